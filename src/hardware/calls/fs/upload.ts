// Receives a file's bytes.

import { z } from "zod";
import { uploadFile } from "../../upload.ts";
import { BODY_ID_MAX } from "../../../protocol/body.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.upload",
  doc: "Create a file of any kind and size, or replace its whole content, from the bytes of a body: binary frames that begin with the number given as body. The target says in body signals from which byte and up to which byte to send; the file appears at its path once all bytes have arrived and their checksum is right. tag names the content: bytes that an interrupted call with the same tag has sent are not sent again. received is the number of bytes actually transferred.",
  runs: "hardware",
  does: "effect",
  carries: "body",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({
    path: z.string().min(1),
    size: z.int().min(0),
    body: z.int().min(0).max(BODY_ID_MAX),
    tag: z.string().min(1).max(128).optional(),
    mode: z.int().min(0).max(0o777).optional(),
  }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), size: z.int(), sha256: z.string(), received: z.int() }), Failure]),
  fails: {
    400: "the caller has no socket of its own",
    403: "the caller may not use the device",
    409: "a body with this number is in progress",
    429: "too many bodies are in progress",
    503: "the device is offline",
    507: "the disk is full",
  },
  example: {
    args: { path: "~/photo.raw", size: 5, body: 1, tag: "photo.raw-5-1700000000" },
    result: {
      ok: true,
      path: "/home/alice/photo.raw",
      size: 5,
      sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      received: 5,
    },
  },
  run: uploadFile,
});
