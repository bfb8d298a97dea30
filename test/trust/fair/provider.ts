// A model that answers at once, in its own process. If the message asks for a long answer, it streams thousands of pieces.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chatStream } from "../../support/models/chat.ts";

const WORDS = Buffer.from(chatStream({ say: [{ type: "text", text: "A few words." }] }));
const LONG = Buffer.from(chatStream({ say: [{ type: "text", text: "Words without an end. ".repeat(20_000) }] }));

let calls = 0;

const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const body = Buffer.concat(parts);
    if (body.includes("work without end")) response.end(readCall());
    else response.end(body.includes("talk for long") ? LONG : WORDS);
  });
});
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));

function readCall(): string {
  return chatStream({ say: [{ type: "call", id: `call-${++calls}`, name: "Read", args: JSON.stringify({ target: "gsv", path: "~/f" }) }] });
}

process.once("disconnect", () => process.exit(0));
