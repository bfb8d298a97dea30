// gsv cat: a file's content as it is, of any kind and size. A terminal gets text only, with all escape sequences made
// harmless.

import type { Client } from "../../client/client.ts";
import { decodeText, isText } from "../../hardware/text.ts";
import { type FilePlace, parsePlace } from "../files/target-path.ts";
import { Problem } from "../terminal/problem.ts";
import { mustBeOk } from "../files/remote-file.ts";
import { type Globals, withClient } from "../session/session.ts";
import { pour, sayJson } from "../terminal/terminal.ts";

type Show = (chunk: Uint8Array) => void | Promise<void>;

export async function cat(flags: Globals, [text = ""]: readonly string[]): Promise<void> {
  const place = parsePlace(text);
  await withClient(flags, async (client) => {
    if (flags.json) return asJson(client, place);
    await fetched(client, place, process.stdout.isTTY ? atTerminal(text) : pour);
  });
}

async function asJson(client: Client, place: FilePlace): Promise<void> {
  const chunks: Uint8Array[] = [];
  const { path, size } = await fetched(client, place, (chunk) => void chunks.push(chunk));
  const bytes = Buffer.concat(chunks);
  const content = decodeText(bytes);
  sayJson({ path, size, ...(content === null ? { data: bytes.toString("base64") } : { content }) });
}

/** What is no text may be commands to the terminal. */
function atTerminal(text: string): Show {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let isFirst = true;
  return (chunk) => {
    if (isFirst && !isText(chunk)) throw new Problem(`Not text: ${text}. Save it with: gsv cat ${text} > FILE`);
    isFirst = false;
    return pour(decoder.decode(chunk, { stream: true }));
  };
}

async function fetched(client: Client, place: FilePlace, show: Show): Promise<{ path: string; size: number }> {
  const answer = await client.download(place, async () => ({
    have: 0,
    read: async () => new Uint8Array(),
    write: async (chunk) => show(chunk),
  }));
  if (!answer.ok && answer.error.startsWith("Is a directory")) throw new Problem(`${answer.error}. gsv ls shows what is in it`);
  return mustBeOk(answer);
}
