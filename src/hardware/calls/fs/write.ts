// Writes a whole file.

import { z } from "zod";
import { writeFile } from "../../write.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.write",
  doc: "Create a file or replace its whole content. Missing parent directories are created. size is in bytes.",
  runs: "hardware",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  atOnce: 16,
  args: z.object({ path: z.string().min(1), content: z.string() }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), size: z.int() }), Failure]),
  fails: { 403: "the caller may not use the device", 503: "the device is offline", 507: "the disk is full" },
  example: { args: { path: "~/notes.md", content: "hello\n" }, result: { ok: true, path: "/home/alice/notes.md", size: 6 } },
  run: writeFile,
});
