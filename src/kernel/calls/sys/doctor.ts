// Checks for common problems.

import { z } from "zod";
import { runChecks } from "../../doctor/doctor.ts";
import { Check } from "../../../protocol/check.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "sys.doctor",
  doc: "Look at what commonly goes wrong and say of each how it stands and what to do next. Everybody is told of what is theirs; root of everybody's and of the host. clientNow is the caller's clock, to compare; tryModel asks the model a tiny question.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  isExpensive: true,
  args: z.object({ tryModel: z.boolean().default(false), clientNow: z.number().optional() }),
  result: z.object({ checks: z.array(Check) }),
  fails: { 429: "too many tries at a model" },
  example: {
    args: { tryModel: true },
    result: {
      checks: [
        { id: "clock", title: "Clock", state: "ok", says: "The gateway's clock runs as it should.", next: null },
        {
          id: "model",
          title: "Model",
          state: "warn",
          says: "Agents answer with the demo model, which understands a few phrases.",
          next: "Choose a provider in the settings of AI.",
        },
      ],
    },
  },
  async run(context, caller, { tryModel, clientNow }) {
    const { throttle, now, signal } = context;
    if (tryModel) throttle.spend("check", `user-${caller.uid}`, now);
    return { checks: await runChecks(context, context, caller, { now: clientNow, tryModel }, signal) };
  },
});
