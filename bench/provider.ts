// A model that answers at once, in its own process: streams OpenAI chat completions with a few words, or first a tool call where
// the message starts with "read", a script that reads N files where it is "script N", or as many pieces as "stream N" asks for. Its time is not the gateway's and is measured
// separately.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chatStream } from "../test/support/models/chat.ts";
import { readsInScript } from "./text.ts";

type Message = { role: string; content?: unknown };

const WORDS = Buffer.from(chatStream({ say: [{ type: "text", text: "Here are some words that answer what was said, in a few pieces." }] }));
const PIECES_PER_TURN = 4;
let calls = 0;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { messages = [] } = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as { messages?: Message[] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = piecesWanted(messages.at(-1));
    if (pieces > 0) return void streamPieces(response, pieces);
    response.end(answerTo(messages.at(-1)));
  });
});
server.listen(0, "127.0.0.1", () => console.log(`PROVIDER is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
server.keepAliveTimeout = 120_000;
process.on("SIGTERM", () => process.exit(0));
// The bench holds the other end of this pipe: however it ends, this process ends too.
process.stdin.on("end", () => process.exit(0)).resume();

function answerTo(last: Message | undefined): string | Buffer {
  const said = last?.role === "user" ? JSON.stringify(last.content) : "";
  const reads = /"script (\d+)/.exec(said)?.[1];
  if (reads !== undefined) return toolCall("CodeMode", { code: readsInScript(Number(reads)) });
  return said.includes('"read') ? toolCall("Read", { target: "gsv", path: "~/f" }) : WORDS;
}

function piecesWanted(last: Message | undefined): number {
  return Number(/"stream (\d+)/.exec(JSON.stringify(last?.content ?? ""))?.[1] ?? 0);
}

/** Each piece is a write of its own, as a model server sends them; the loop turns now and then, so that they leave. */
async function streamPieces(response: ServerResponse, count: number): Promise<void> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "s", object: "chat.completion.chunk", created: 1, model: "bench", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  for (let at = 0; at < count; at++) {
    response.write(chunk({ content: `word ${at} ` }));
    if (at % PIECES_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
}

function toolCall(name: string, args: object): string {
  return chatStream({ say: [{ type: "call", id: `call-${++calls}`, name, args: JSON.stringify(args) }] });
}
