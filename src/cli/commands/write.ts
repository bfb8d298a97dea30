// gsv write: creates or replaces a file from a file of this machine or from standard input.

import type { Client } from "../../client/client.ts";
import { readStdinBytes } from "../terminal/ask.ts";
import { localEndpoint, makeTargetEndpoint } from "../files/copy-endpoint.ts";
import { type TargetPath, parseTargetPath, formatTargetPath } from "../files/target-path.ts";
import { Problem } from "../terminal/problem.ts";
import { requireOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printJson } from "../terminal/terminal.ts";
import { type WrittenFile, transfer } from "../files/transfer.ts";

const GATEWAY = "gsv";
/** Standard input is held in memory until it ends, because an upload states its size first. */
const STDIN_BYTES_MAX = 256 * 1024 * 1024;

export async function write(flags: Globals, [text = "", file = "-"]: readonly string[]): Promise<void> {
  const place = parseTargetPath(text);
  await withClient(flags, async (client) => {
    const { path, size } = file === "-" ? await writeStdin(client, place) : await writeFile(client, place, file);
    if (flags.json) return printJson({ path, size });
    printNote(`Wrote ${size} bytes to ${formatTargetPath(place, path)}.`);
  });
}

async function writeFile(client: Client, { target = GATEWAY, path }: TargetPath, file: string): Promise<WrittenFile> {
  const kind = await localEndpoint.findKind(file);
  if (kind !== "file") throw new Problem(`${kind === null ? "Not found" : "Not a file"}: ${file}`);
  return transfer(client, { endpoint: localEndpoint, path: file }, { endpoint: makeTargetEndpoint(client, target), path });
}

/** Reads after the login, because a password on standard input comes before the content. */
async function writeStdin(client: Client, place: TargetPath): Promise<WrittenFile> {
  if (process.stdin.isTTY) printNote("gsv: type the text; end it with Ctrl-D on an empty line");
  const bytes = await readStdinBytes(STDIN_BYTES_MAX);
  if (bytes.length > STDIN_BYTES_MAX) throw new Problem("Too much input for a pipe: save it to a file and name that file");
  const content = { size: bytes.length, version: "", mode: 0o644, read: async (start: number, end: number) => bytes.subarray(start, end) };
  return requireOk(await client.upload({ ...place, size: bytes.length }, content));
}
