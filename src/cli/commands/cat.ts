// gsv cat: prints a file of any kind and size unchanged. On a terminal it prints only text, with escape sequences made harmless.

import type { Client } from "../../client/client.ts";
import { decodeText, isText } from "../../hardware/text.ts";
import { type TargetPath, parseTargetPath } from "../files/target-path.ts";
import { Problem } from "../terminal/problem.ts";
import { requireOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { writeContent, printJson } from "../terminal/terminal.ts";

type Write = (chunk: Uint8Array) => void | Promise<void>;

export async function cat(flags: Globals, [text = ""]: readonly string[]): Promise<void> {
  const place = parseTargetPath(text);
  await withClient(flags, async (client) => {
    if (flags.json) return printFileAsJson(client, place);
    await download(client, place, process.stdout.isTTY ? terminalWriter(text) : writeContent);
  });
}

async function printFileAsJson(client: Client, place: TargetPath): Promise<void> {
  const chunks: Uint8Array[] = [];
  const { path, size } = await download(client, place, (chunk) => void chunks.push(chunk));
  const bytes = Buffer.concat(chunks);
  const content = decodeText(bytes);
  printJson({ path, size, ...(content === null ? { data: bytes.toString("base64") } : { content }) });
}

/** Binary content may contain commands to the terminal, so it is refused. */
function terminalWriter(text: string): Write {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isFirst = true;
  return (chunk) => {
    if (isFirst && !isText(chunk)) throw new Problem(`Not a text file: ${text}. To save it: gsv cat ${text} > FILE`);
    isFirst = false;
    return writeContent(decoder.decode(chunk, { stream: true }));
  };
}

async function download(client: Client, place: TargetPath, write: Write): Promise<{ path: string; size: number }> {
  const answer = await client.download(place, async () => ({
    have: 0,
    read: async () => new Uint8Array(),
    write: async (chunk) => write(chunk),
  }));
  if (!answer.ok && answer.error.startsWith("Is a directory")) throw new Problem(`${answer.error}. To list it: gsv ls`);
  return requireOk(answer);
}
