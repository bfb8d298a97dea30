// Writes a whole file.

import { z } from "zod";
import { writeFile } from "../../write.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.write",
  doc: "Make a file or replace it whole. Directories on the way are made. size is in bytes.",
  runs: "hardware",
  does: "effect",
  keeps: true,
  from: ["user"],
  grant: ["users"],
  atOnce: 16,
  args: z.object({ path: z.string().min(1), content: z.string() }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), size: z.int() }), Failure]),
  fails: { 403: "a device that is not the caller's", 503: "a device that is offline", 507: "the disk is full" },
  example: { args: { path: "~/notes.md", content: "hello\n" }, result: { ok: true, path: "/home/alice/notes.md", size: 6 } },
  run: writeFile,
});
