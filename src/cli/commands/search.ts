// gsv search: prints lines that contain a text, in grep's format. Exit code 1 means that there are none.

import { parseTargetPath, formatTargetPath } from "../files/target-path.ts";
import { mustBeOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { note, sayJson, sayLine } from "../terminal/terminal.ts";

export async function search(flags: Globals & { include?: string }, [query = "", where = "."]: readonly string[]): Promise<number> {
  const place = parseTargetPath(where, ".");
  const args = { ...place, query, ...(flags.include === undefined ? {} : { include: flags.include }) };
  const { matches, count, truncated = false } = mustBeOk(await withClient(flags, (client) => client.call("fs.search", args)));
  if (flags.json) sayJson({ matches, count, truncated });
  else for (const { path, line, content } of matches) sayLine(`${formatTargetPath(place, path)}:${line}: ${content}`);
  if (truncated) note(`gsv: the search stopped after ${count} lines; there may be more. Give a path or --include to narrow it`);
  return matches.length === 0 ? 1 : 0;
}
