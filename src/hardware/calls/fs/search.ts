// Searches files for a text.

import { z } from "zod";
import { searchFiles } from "../../search.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.search",
  doc: "Find lines that contain a text, literally and case-sensitively, in files at or below path (by default the working directory). include is a pattern of file names such as *.md. Paths that hold secrets, such as ~/.ssh and .env files, are skipped unless path is one or lies in one. truncated says that a limit ended the search early.",
  runs: "hardware",
  does: "read",
  from: ["user"],
  grant: ["users"],
  isExpensive: true,
  args: z.object({ query: z.string(), path: z.string().min(1).optional(), include: z.string().max(256).optional() }),
  result: z.union([
    z.object({
      ok: z.literal(true),
      matches: z.array(z.object({ path: z.string(), line: z.int(), content: z.string() })),
      count: z.int(),
      truncated: z.boolean().optional(),
    }),
    Failure,
  ]),
  fails: { 403: "the caller may not use the device", 503: "the device is offline" },
  example: {
    args: { query: "TODO", path: "~/notes" },
    result: { ok: true, matches: [{ path: "/home/alice/notes/a.md", line: 3, content: "TODO: water the plants" }], count: 1 },
  },
  run: searchFiles,
});
