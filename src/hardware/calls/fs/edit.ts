// Replaces exact text in a file.

import { z } from "zod";
import { editFile } from "../../edit.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.edit",
  doc: "Replace oldString with newString in a text file. oldString must occur exactly once unless replaceAll is set; if it does not match, the error says what is there.",
  runs: "hardware",
  does: "effect",
  isDurableBeforeAnswer: true,
  from: ["user"],
  grant: ["users"],
  args: z.object({ path: z.string().min(1), oldString: z.string(), newString: z.string(), replaceAll: z.boolean().optional() }),
  result: z.union([z.object({ ok: z.literal(true), path: z.string(), replacements: z.int() }), Failure]),
  fails: { 403: "the caller may not use the device", 503: "the device is offline", 507: "the disk is full" },
  example: {
    args: { path: "~/notes.md", oldString: "hello", newString: "good morning" },
    result: { ok: true, path: "/home/alice/notes.md", replacements: 1 },
  },
  run: editFile,
});
