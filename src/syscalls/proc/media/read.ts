// Something that was sent along.

import { z } from "zod";
import { OfProcess } from "../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

export default syscall({
  name: "proc.media.read",
  doc: "Read something that was sent along with a message or shown by a tool, as a data URL, by the key the history has for it.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({ ...OfProcess, key: z.string().min(1).max(500) }),
  result: z.object({ ok: z.literal(true), pid: z.string(), key: z.string(), dataUrl: z.string(), size: z.int() }),
  fails: { 404: "there is no such process or media", 413: "it is larger than 25 MiB" },
  example: {
    args: { key: "var/media/1000/init:1000/4f.png" },
    result: { ok: true, pid: "init:1000", key: "var/media/1000/init:1000/4f.png", dataUrl: "data:image/png;base64,iVBORw0KGgo=", size: 8 },
  },
  async run({ agents }, caller, { pid, key }) {
    const { pid: found, dataUrl, bytes } = await agents.readMedia(caller, pid, key);
    return { ok: true as const, pid: found, key, dataUrl, size: bytes };
  },
});
