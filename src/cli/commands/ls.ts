// gsv ls: prints the names in a directory, one per line, directories with a slash.

import { findListedKind, requireOk } from "../files/remote-file.ts";
import { parseTargetPath } from "../files/target-path.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printJson, printDataLine } from "../terminal/terminal.ts";

export async function ls(flags: Globals, [text = "."]: readonly string[]): Promise<void> {
  const place = parseTargetPath(text, ".");
  await withClient(flags, async (client) => {
    const answer = await client.call("fs.read", { ...place, limit: 0 });
    // Reading fails for a file without text, which exists all the same.
    const isFile = answer.ok ? !("directories" in answer) : (await findListedKind(client, place)) === "file";
    if (isFile) return flags.json ? printJson({ path: answer.ok ? answer.path : place.path, file: true }) : printDataLine(text);
    const found = requireOk(answer);
    if (!("directories" in found)) return;
    const { path, files, directories } = found;
    if (flags.json) return printJson({ path, files, directories });
    const names = [...files.map((name) => [name, ""] as const), ...directories.map((name) => [name, "/"] as const)];
    for (const [name, mark] of names.sort(([a], [b]) => (a < b ? -1 : 1))) printDataLine(name + mark);
  });
}
