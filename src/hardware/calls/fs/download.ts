// Sends a file's bytes.

import { z } from "zod";
import { downloadFile } from "../../download.ts";
import { BODY_ID_MAX } from "../../../protocol/body.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.download",
  doc: "Fetch a file of any kind and size as it is. Its bytes come as a body: binary frames that begin with the number given as body. The target says how large it is in a body signal and sends what is asked for by another; the answer follows the last byte. sent is what really travelled.",
  runs: "hardware",
  does: "read",
  carries: "body",
  from: ["user"],
  grant: ["users"],
  args: z.object({ path: z.string().min(1), body: z.int().min(0).max(BODY_ID_MAX) }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), size: z.int(), sha256: z.string(), sent: z.int() }), Failure]),
  fails: {
    400: "a caller without a socket of its own",
    403: "a device that is not the caller's",
    409: "a body with this number is under way",
    429: "too many bodies are under way",
    503: "a device that is offline",
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
