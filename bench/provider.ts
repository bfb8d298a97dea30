// A model that answers at once, as a process of its own: OpenAI's chat completions as a stream, with a few words, or first with a
// call of a tool where the message begins with "read". What it takes is no part of a gateway's time, and is measured alone.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chatStream } from "../test/support/models/chat.ts";

type Message = { role: string; content?: unknown };

const WORDS = Buffer.from(chatStream({ say: [{ type: "text", text: "Here are some words that answer what was said, in a few pieces." }] }));
let calls = 0;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { messages = [] } = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as { messages?: Message[] });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(isAsking(messages.at(-1)) ? callOfRead() : WORDS);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`PROVIDER is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
server.keepAliveTimeout = 120_000;
process.on("SIGTERM", () => process.exit(0));
// The other end of this pipe is the bench: when it dies, however it dies, so does this.
process.stdin.on("end", () => process.exit(0)).resume();

function isAsking(last: Message | undefined): boolean {
  return last?.role === "user" && JSON.stringify(last.content).includes('"read');
}

function callOfRead(): string {
  const args = JSON.stringify({ target: "gsv", path: "~/f" });
  return chatStream({ say: [{ type: "call", id: `call-${++calls}`, name: "Read", args }] });
}
