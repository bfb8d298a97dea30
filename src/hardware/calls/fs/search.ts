// Searches files for a text.

import { z } from "zod";
import { searchFiles } from "../../search.ts";
import { Failure } from "../../../protocol/records.ts";
import { hardwareSyscall } from "../define.ts";

export default hardwareSyscall({
  name: "fs.search",
  doc: "Find lines that hold a text, literally and by case, in files at or below path (the working directory for none). include is a pattern of names such as *.md. Places that hold secrets, such as ~/.ssh and .env files, are passed over unless path is one or lies in one. truncated says that a limit ended the search early.",
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
  fails: { 403: "a device that is not the caller's", 503: "a device that is offline" },
  example: {
    args: { query: "TODO", path: "~/notes" },
    result: { ok: true, matches: [{ path: "/home/alice/notes/a.md", line: 3, content: "TODO: water the plants" }], count: 1 },
  },
  run: searchFiles,
});
