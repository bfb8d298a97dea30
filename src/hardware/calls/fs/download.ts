// Sends a file's bytes.

import { z } from "zod";
import { downloadFile } from "../../download.ts";
import { BODY_ID_MAX } from "../../../protocol/body.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.download",
  doc: "Fetch a file of any kind and size unchanged. Its bytes arrive as a body: binary frames that begin with the number given as body. The target states the size in a body signal and sends the bytes that another one requests; the answer follows the last byte. sent is the number of bytes actually transferred.",
  runs: "hardware",
  does: "read",
  carries: "body",
  from: ["user"],
  grant: ["users"],
  args: z.object({ path: z.string().min(1), body: z.int().min(0).max(BODY_ID_MAX) }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), size: z.int(), sha256: z.string(), sent: z.int() }), Failure]),
  fails: {
    400: "the caller has no socket of its own",
    403: "the caller may not use the device",
    409: "a body with this number is in progress",
    429: "too many bodies are in progress",
    503: "the device is offline",
  },
  example: {
    args: { path: "~/photo.raw", body: 1 },
    result: {
      ok: true,
      path: "/home/alice/photo.raw",
      size: 5,
      sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      sent: 5,
    },
  },
  run: downloadFile,
});
