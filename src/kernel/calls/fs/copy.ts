// Copies a file from one target to another.

import { z } from "zod";
import { Failure } from "../../../protocol/records.ts";
import { TARGET } from "../../../hardware/calls/define.ts";
import { syscall } from "../define.ts";

const Location = z.object({ target: TARGET, path: z.string().min(1) });

export default syscall({
  name: "fs.copy",
  doc: "Copy a file of any kind and size from one target to another, or within one. Its bytes pass through the gateway and are not stored there. The copy appears at its path once all bytes have arrived and their checksum is right; bytes that an interrupted copy of the same version has sent are not sent again. With progress, copy.progress signals with that name report the progress. sent is the number of bytes actually transferred.",
  runs: "kernel",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({ from: Location, to: Location, progress: z.string().min(1).max(128).optional() }),
  result: z.union([
    z.object({ ok: z.literal(true), from: z.string(), to: z.string(), size: z.int(), sha256: z.string(), sent: z.int() }),
    Failure,
  ]),
  fails: {
    403: "the caller may not use the device",
    429: "too many bodies are in progress",
    503: "the device is offline",
    507: "the disk is full",
  },
  example: {
    args: { from: { target: "laptop", path: "~/photo.raw" }, to: { target: "server", path: "/srv/photos/photo.raw" } },
    result: {
      ok: true,
      from: "/home/alice/photo.raw",
      to: "/srv/photos/photo.raw",
      size: 5,
      sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
      sent: 5,
    },
  },
  run: ({ copies, signal }, caller, args) => copies.copy(caller, args, signal),
});
