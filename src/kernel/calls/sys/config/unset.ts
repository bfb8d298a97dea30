// Removes a configuration key, so that its default counts again.

import { z } from "zod";
import { syscall } from "../../define.ts";
import { checkMaySet, makeKeySchema } from "../../../config-keys.ts";

export default syscall({
  name: "sys.config.unset",
  doc: "Remove one key that was set, so that its default counts again, or that there is none. The same callers may do so who may set it.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({ key: makeKeySchema("sys.config.unset") }),
  result: z.object({ ok: z.literal(true), wasSet: z.boolean() }),
  fails: { 400: "key is missing or malformed", 403: "the caller may not set the key, or nobody may" },
  example: { args: { key: "config/server/name" }, result: { ok: true, wasSet: true } },
  run({ config, modelFailures, emit, after }, caller, { key }) {
    checkMaySet(caller, key);
    const wasSet = config.unset(key);
    modelFailures.onSettingChanged(key);
    after(() => emit.announceConfigChange(key));
    return { ok: true as const, wasSet };
  },
});
