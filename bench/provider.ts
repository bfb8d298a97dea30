// A model that answers at once, in its own process: streams OpenAI chat completions with a few words, or first a tool call where
// the message starts with "read". Its time is not the gateway's and is measured separately.

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
    response.end(wantsTool(messages.at(-1)) ? readCall() : WORDS);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`PROVIDER is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
server.keepAliveTimeout = 120_000;
process.on("SIGTERM", () => process.exit(0));
// The bench holds the other end of this pipe: however it ends, this process ends too.
process.stdin.on("end", () => process.exit(0)).resume();

function wantsTool(last: Message | undefined): boolean {
  return last?.role === "user" && JSON.stringify(last.content).includes('"read');
}

function readCall(): string {
  const args = JSON.stringify({ target: "gsv", path: "~/f" });
  return chatStream({ say: [{ type: "call", id: `call-${++calls}`, name: "Read", args }] });
}
