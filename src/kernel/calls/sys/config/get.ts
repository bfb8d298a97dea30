// Reads configuration.

import { z } from "zod";
import { fail } from "../../../../lib/sys-error.ts";
import { ConfigEntry } from "../../../../protocol/records.ts";
import { LIMITS } from "../../../../protocol/limits.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "sys.config.get",
  doc: "Read one key, or every visible key below a prefix, sorted. Root sees everything; others see their own users/<uid>/ keys and the keys below config/ that are not sensitive. Below a prefix, a sealed value that cannot be opened is empty and has a problem.",
  runs: "kernel",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({ key: z.string().max(LIMITS.configKeyBytes).optional() }),
  result: z.object({ entries: z.array(ConfigEntry) }),
  fails: {
    403: "the key is another user's or sensitive, whether or not it is set",
    409: "the key's value was sealed with another secret key, or is damaged",
    413: "the keys below the prefix are too large for one answer",
  },
  example: { args: { key: "config/server/name" }, result: { entries: [{ key: "config/server/name", value: "gsv" }] } },
  run({ config }, caller, args) {
    const key = args.key?.replace(/\/+$/, "");
    if (key === undefined || key === "") return { entries: config.list(caller) };
    if (!config.mayRead(caller, key)) fail(403, `Permission denied: cannot read ${key}`);
    const value = config.get(key);
    if (value !== undefined) return { entries: [{ key, value }] };
    return { entries: config.list(caller, key) };
  },
});
