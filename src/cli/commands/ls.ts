// gsv ls: prints the names in a directory, one per line, directories with a slash.

import { kindListed, mustBeOk } from "../files/remote-file.ts";
import { parseTargetPath } from "../files/target-path.ts";
import { type Globals, withClient } from "../session/session.ts";
import { sayJson, sayLine } from "../terminal/terminal.ts";

export async function ls(flags: Globals, [text = "."]: readonly string[]): Promise<void> {
  const place = parseTargetPath(text, ".");
  await withClient(flags, async (client) => {
    const answer = await client.call("fs.read", { ...place, limit: 0 });
    // Reading fails for a file without text, which exists all the same.
    const isFile = answer.ok ? !("directories" in answer) : (await kindListed(client, place)) === "file";
    if (isFile) return flags.json ? sayJson({ path: answer.ok ? answer.path : place.path, file: true }) : sayLine(text);
    const found = mustBeOk(answer);
    if (!("directories" in found)) return;
    const { path, files, directories } = found;
    if (flags.json) return sayJson({ path, files, directories });
    const names = [...files.map((name) => [name, ""] as const), ...directories.map((name) => [name, "/"] as const)];
    for (const [name, mark] of names.sort(([a], [b]) => (a < b ? -1 : 1))) sayLine(name + mark);
  });
}
