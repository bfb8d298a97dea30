// A scripted model provider on loopback: speaks the real wire formats of OpenAI (chat completions and responses), Anthropic and
// Gemini, fails in their ways, hangs, and is cut off after any byte. The answer depends on the request alone (exchange.ts), never
// on the order in which requests arrive.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ModelChoice } from "../../../src/ports/models.ts";
import { anthropicStream } from "./anthropic.ts";
import { chatStream } from "./chat.ts";
import { type Exchange, exchangeOf } from "./exchange.ts";
import { googleStream } from "./google.ts";
import type { Pace } from "./pace.ts";
import { responsesStream } from "./responses.ts";
import type { Script } from "./script.ts";

export type Step =
  | Reply
  /** Answers to repeats of the same request, in order: for retries after a failure. */
  | { tries: readonly Reply[] };

export type Reply =
  /** An answer in the wire format of the request. */
  | Script
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Sends nothing, or `after` bytes of the script's stream and then nothing, until the peer disconnects. */
  | { hang: true; script?: Script; after?: number }
  /** The script's stream, each event when `pace` lets it through. */
  | { paced: Script; pace: Pace }
  /** `after` bytes of the script's stream; then the response ends, or the connection is reset. */
  | { cut: Script; after: number; how: "end" | "reset" }
  /** A body of exactly these bytes. */
  | { bytes: string | Uint8Array }
  | ((request: Asked) => Reply | Promise<Reply>);

/** A request, for tests to inspect. */
export type Asked = { method: string; path: string; headers: IncomingMessage["headers"]; body: Record<string, unknown> };

export type WireName = "chat" | "responses" | "anthropic" | "google";

const STREAMS: Record<WireName, (script: Script) => string> = {
  chat: chatStream,
  responses: responsesStream,
  anthropic: anthropicStream,
  google: googleStream,
};

/** The gateway's provider id for each wire format. */
const PROVIDER_IDS: Record<WireName, string> = { chat: "openai-compatible", responses: "openai", anthropic: "anthropic", google: "google" };

export function recorded(wire: WireName, script: Script): Buffer {
  return Buffer.from(STREAMS[wire](script));
}

export class ScriptedProvider {
  readonly asked: Asked[] = [];
  /** How many connections were ever made. */
  opened = 0;
  /** How many responses were unfinished when the peer disconnected. */
  gone = 0;
  /** Answers to GET, by path. */
  readonly pages = new Map<string, unknown>();
  /** For requests that no rule answers. */
  otherwise: Reply = { say: [{ type: "text", text: "ok" }] };
  readonly #rules: Rule[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#server.on("connection", (socket) => {
      this.opened++;
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  static async start(): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The model choice by which the gateway reaches it in this wire format. */
  choice(wire: WireName, more: Partial<ModelChoice> = {}): ModelChoice {
    return {
      provider: PROVIDER_IDS[wire],
      model: "scripted",
      apiKey: "sk-canary-000000000000",
      baseUrl: `http://${this.host}/${wire === "google" ? "v1beta" : "v1"}`,
      reasoning: "off",
      maxOutputTokens: 1000,
      ...more,
    };
  }

  /**
   * Scripts one run: the first step answers the prompt, and each further one answers the tool results of the step before it. A
   * string must be the whole prompt. A later rule for the same prompt replaces the earlier one.
   */
  on(prompt: string | RegExp, ...steps: Step[]): this {
    this.#rules.unshift({ prompt, steps, tries: new Map() });
    return this;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    try {
      for await (const part of request) text += String(part);
    } catch {
      // The client disconnected before it had sent the whole request.
      return;
    }
    const path = (request.url ?? "").split("?")[0]!;
    const page = this.pages.get(path);
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const asked: Asked = { method: request.method ?? "", path, headers: request.headers, body };
    this.asked.push(asked);
    response.once("close", () => {
      if (!response.writableFinished) this.gone++;
    });
    if (page !== undefined) return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page));
    const wire = wireOf(path);
    if (wire === null) return void response.writeHead(404).end('{"error":{"message":"no such path"}}');
    let step = this.#stepFor(exchangeOf(body)) ?? this.otherwise;
    while (typeof step === "function") step = await step(asked);
    play(step, wire, response);
  }

  #stepFor({ prompt, position }: Exchange): Reply | undefined {
    const rule = this.#rules.find((one) => (typeof one.prompt === "string" ? one.prompt === prompt : one.prompt.test(prompt)));
    const step = rule?.steps[position];
    if (rule === undefined || step === undefined) return undefined;
    if (typeof step === "function" || !("tries" in step)) return step;
    const tried = rule.tries.get(position) ?? 0;
    rule.tries.set(position, tried + 1);
    return step.tries[tried];
  }
}

type Rule = { prompt: string | RegExp; steps: readonly Step[]; tries: Map<number, number> };

function wireOf(path: string): WireName | null {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "anthropic";
  return path.endsWith(":streamGenerateContent") ? "google" : null;
}

function play(step: Exclude<Reply, (request: Asked) => unknown>, wire: WireName, response: ServerResponse): void {
  if ("status" in step) {
    const body = step.body === undefined ? errorBody(wire, step.status) : step.body;
    response.writeHead(step.status, { "content-type": "application/json", ...step.headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
    return;
  }
  if ("hang" in step) {
    if (step.script === undefined) return;
    begin(response).write(recorded(wire, step.script).subarray(0, step.after ?? 0));
    return;
  }
  if ("paced" in step) return void playPaced(step, wire, begin(response));
  if ("cut" in step) {
    const part = recorded(wire, step.cut).subarray(0, step.after);
    begin(response).flushHeaders();
    if (step.how === "end") response.end(part);
    else response.write(part, () => response.destroy());
    return;
  }
  begin(response).end("bytes" in step ? step.bytes : recorded(wire, step));
}

async function playPaced({ paced, pace }: { paced: Script; pace: Pace }, wire: WireName, response: ServerResponse): Promise<void> {
  for (const event of recorded(wire, paced)
    .toString()
    .split(/(?<=\n\n)/)) {
    await pace.next();
    response.write(event);
  }
  response.end();
}

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream" });
}

/** In each provider's format. */
function errorBody(wire: WireName, status: number): unknown {
  const [type, message] = ERRORS[status] ?? ["api_error", "Something went wrong"];
  if (wire === "anthropic") return { type: "error", error: { type, message } };
  if (wire === "google") return { error: { code: status, message, status: type.toUpperCase() } };
  return { error: { message, type, code: type } };
}

const ERRORS: Readonly<Record<number, [string, string]>> = {
  400: ["invalid_request_error", "This model's maximum context length is 1000 tokens. However, your messages resulted in 2000 tokens"],
  401: ["authentication_error", "Incorrect API key provided: sk-canary-000000000000"],
  404: ["not_found_error", "The model `scripted` does not exist"],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "Rate limit reached for requests"],
  500: ["api_error", "Internal server error"],
  529: ["overloaded_error", "Overloaded"],
};
