// Checks for common problems.

import { z } from "zod";
import { runChecks } from "../../doctor/doctor.ts";
import { Check } from "../../../protocol/check.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "sys.doctor",
  doc: "Check for common problems and report the state of each and what to do next. Users get findings about what is theirs; root about all users and the host. clientNow is the caller's clock, for comparison; tryModel asks the model a tiny question.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  isExpensive: true,
  args: z.object({ tryModel: z.boolean().default(false), clientNow: z.number().optional() }),
  result: z.object({ checks: z.array(Check) }),
  fails: { 429: "too many model tests" },
  example: {
    args: { tryModel: true },
    result: {
      checks: [
        { id: "clock", title: "Clock", state: "ok", says: "The gateway's clock is correct.", next: null },
        {
          id: "model",
          title: "Model",
          state: "warn",
          says: "Agents use the demo model, which understands only a few phrases.",
          next: "Choose a provider in the AI settings.",
        },
      ],
    },
  },
  async run(context, caller, { tryModel, clientNow }) {
    const { throttle, now, signal } = context;
    if (tryModel) throttle.countOperation("check", `user-${caller.uid}`, now);
    return { checks: await runChecks(context, context, caller, { now: clientNow, tryModel }, signal) };
  },
});
