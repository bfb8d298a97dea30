// Deletes a file or a directory.

import { z } from "zod";
import { deleteFile } from "../../delete.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.delete",
  doc: "Delete a file, or a directory with everything in it. This cannot be undone.",
  runs: "hardware",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({ path: z.string().min(1) }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string() }), Failure]),
  fails: { 403: "the caller may not use the device", 503: "the device is offline" },
  example: { args: { path: "~/old" }, result: { ok: true, path: "/home/alice/old" } },
  run: deleteFile,
});
