// gsv search: prints lines that contain a text, in grep's format. Exit code 1 means that there are none.

import { parseTargetPath, formatTargetPath } from "../files/target-path.ts";
import { requireOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printJson, printDataLine } from "../terminal/terminal.ts";

export async function search(flags: Globals & { include?: string }, [query = "", where = "."]: readonly string[]): Promise<number> {
  const place = parseTargetPath(where, ".");
  const args = { ...place, query, ...(flags.include === undefined ? {} : { include: flags.include }) };
  const { matches, count, truncated = false } = requireOk(await withClient(flags, (client) => client.call("fs.search", args)));
  if (flags.json) printJson({ matches, count, truncated });
  else for (const { path, line, content } of matches) printDataLine(`${formatTargetPath(place, path)}:${line}: ${content}`);
  if (truncated) printNote(`gsv: the search stopped after ${count} lines; there may be more. Give a path or --include to narrow it`);
  return matches.length === 0 ? 1 : 0;
}
