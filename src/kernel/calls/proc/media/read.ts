// Reads media that was sent with a message.

import { z } from "zod";
import { OfProcess } from "../../../../protocol/proc-records.ts";
import { syscall } from "../../define.ts";

/** Only a plain MIME type, because it becomes part of a data URL. */
const MimeType = z
  .string()
  .max(200)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, { error: "mimeType must be a type such as image/png" });

export default syscall({
  name: "proc.media.read",
  doc: "Read a file that was attached to a message or returned by a tool, as a data URL, by its key in the history. mimeType is the type to put into the data URL, such as the one in the history; without it, the extension of the key decides.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  atOnce: 2,
  args: z.object({ ...OfProcess, key: z.string().min(1).max(500), mimeType: MimeType.optional() }),
  result: z.object({
    ok: z.literal(true),
    pid: z.string(),
    key: z.string(),
    mimeType: z.string(),
    size: z.int(),
    dataUrl: z.string(),
  }),
  fails: { 400: "mimeType is not a valid type", 404: "there is no such process or media", 413: "it is larger than 25 MiB" },
  example: {
    args: { key: "var/media/1000/init:1000/4f.png" },
    result: {
      ok: true,
      pid: "init:1000",
      key: "var/media/1000/init:1000/4f.png",
      mimeType: "image/png",
      size: 8,
      dataUrl: "data:image/png;base64,iVBORw0KGgo=",
    },
  },
  async run({ agents }, caller, { pid, key, mimeType }) {
    return { ok: true as const, key, ...(await agents.readMedia(caller, pid, key, mimeType)) };
  },
});
