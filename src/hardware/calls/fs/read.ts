// Reads a file or lists a directory.

import { z } from "zod";
import { readFile } from "../../read.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string() }),
]);

export default hardwareSyscall({
  name: "fs.read",
  doc: "Read a text file with numbered lines, a picture as an image block, or a directory's names. offset is the number of lines to skip, limit how many to return; without a limit, all of them. plain returns the text as it is, without numbers. more says that further lines follow.",
  runs: "hardware",
  does: "read",
  from: ["user"],
  grant: ["users"],
  atOnce: 8,
  args: z.object({
    path: z.string().min(1),
    offset: z.int().min(0).optional(),
    limit: z.int().min(0).optional(),
    plain: z.boolean().optional(),
  }),
  result: z.union([
    z.object({
      ok: z.literal(true),
      content: z.union([z.string(), z.array(Block)]),
      path: z.string(),
      lines: z.int().optional(),
      size: z.int(),
      more: z.literal(true).optional(),
    }),
    z.object({ ok: z.literal(true), path: z.string(), files: z.array(z.string()), directories: z.array(z.string()) }),
    Failure,
  ]),
  fails: { 403: "the caller may not use the device", 503: "the device is offline" },
  example: {
    args: { path: "~/notes.md" },
    result: { ok: true, content: "     1\thello", path: "/home/alice/notes.md", lines: 1, size: 6 },
  },
  run: readFile,
});
