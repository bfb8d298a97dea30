// Replaces exact text in a file.

import { z } from "zod";
import { editFile } from "../../edit.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.edit",
  doc: "Replace oldString by newString in a text file. It must occur exactly once unless replaceAll is set; where it does not fit, the error says what is there.",
  runs: "hardware",
  does: "effect",
  keeps: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({ path: z.string().min(1), oldString: z.string(), newString: z.string(), replaceAll: z.boolean().optional() }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), replacements: z.int() }), Failure]),
  fails: { 403: "a device that is not the caller's", 503: "a device that is offline", 507: "the disk is full" },
  example: {
    args: { path: "~/notes.md", oldString: "hello", newString: "good morning" },
    result: { ok: true, path: "/home/alice/notes.md", replacements: 1 },
  },
  run: editFile,
});
