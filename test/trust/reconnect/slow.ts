// A model that answers word by word, slowly enough to be cut off in the middle and resumed: its answer depends only on the message.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { recorded, type Asked } from "../../support/models/provider.ts";
import { heard } from "../agents/heard.ts";
import { pause } from "../devices/asker.ts";

const WORDS = 24;

export class SlowModel {
  readonly #server: Server;
  readonly #pieceMs: number;

  private constructor(pieceMs: number) {
    this.#pieceMs = pieceMs;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(pieceMs: number): Promise<SlowModel> {
    const model = new SlowModel(pieceMs);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request) text += String(part);
    const asked = { path: request.url ?? "", body: (text === "" ? {} : JSON.parse(text)) as Asked["body"] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const said = heard(asked).findLast(({ type }) => type === "user");
    const answer = answerTo(said?.type === "user" ? said.text : "");
    const events = recorded("chat", { say: [{ type: "text", text: answer }] })
      .toString()
      .split(/(?<=\n\n)/);
    for (const event of events) {
      response.write(event);
      await pause(this.#pieceMs);
    }
    response.end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function answerTo(message: string): string {
  const name = /#\d+/.exec(message)?.[0] ?? "#";
  return Array.from({ length: WORDS }, (_, at) => `${name}-word-${at}-ünd`).join(" ");
}
