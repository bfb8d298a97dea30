// Writes configuration.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { isRoot } from "../../../../protocol/caller.ts";
import { LIMITS } from "../../../../protocol/limits.ts";
import { checkMaySet, makeKeySchema } from "../../../config-keys.ts";
import { quotaProblem } from "../../../files/quotas.ts";
import { syscall } from "../../define.ts";

const NEEDS_VALUE = { error: "sys.config.set requires a value" };

export default syscall({
  name: "sys.config.set",
  doc: "Write one key. Root may write any key except config/server/version; others only their own users/<uid>/ai/ keys. Numbers and booleans are stored as text; values of sensitive keys are sealed at rest.",
  runs: "kernel",
  does: "write",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    key: makeKeySchema("sys.config.set"),
    value: z
      .union(
        [
          z.string(NEEDS_VALUE).refine(fits, { error: `value must be at most ${LIMITS.configValueBytes} bytes` }),
          z.number(NEEDS_VALUE),
          z.boolean(NEEDS_VALUE),
        ],
        NEEDS_VALUE,
      )
      .transform(String),
  }),
  result: z.object({ ok: z.literal(true) }),
  fails: {
    400: "key or value is missing or malformed",
    403: "the caller may not set the key, or nobody may",
    413: "the caller has too many keys, or too much data in them",
  },
  example: { args: { key: "config/server/name", value: "attic" }, result: { ok: true } },
  run({ config, modelFailures, emit, after }, caller, { key, value }) {
    checkMaySet(caller, key);
    if (isRoot(caller)) {
      const problem = quotaProblem(key, value);
      if (problem !== null) fail(400, problem);
      config.set(key, value);
    } else config.setWithinUserLimit(caller.uid, key, value);
    modelFailures.onSettingChanged(key);
    after(() => emit.announceConfigChange(key));
    return { ok: true as const };
  },
});

function fits(value: string): boolean {
  return value.length <= LIMITS.configValueBytes && new TextEncoder().encode(value).length <= LIMITS.configValueBytes;
}
