// A model that answers at once, as a process of its own. Where the message asks it to talk for long, thousands of pieces come.

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
    const asked = Buffer.concat(parts);
    if (asked.includes("work without end")) response.end(callOfRead());
    else response.end(asked.includes("talk for long") ? LONG : WORDS);
  });
});
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));

function callOfRead(): string {
  return chatStream({ say: [{ type: "call", id: `call-${++calls}`, name: "Read", args: JSON.stringify({ target: "gsv", path: "~/f" }) }] });
}

process.once("disconnect", () => process.exit(0));
