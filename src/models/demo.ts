// The demo model: no AI, no network, nothing random. It knows a handful of plain requests (demo-phrases.ts), answers them with
// calls of the real tools, and describes the results in a sentence (demo-results.ts). The same request always gets the same
// answer, so that the product can be shown and tested without a key.

import type { ModelEvent, ModelMessage, ModelRequest, OutputBlock } from "../ports/models.ts";
import type { Outcome } from "./attempt.ts";
import { HELP, parseIntent, NOT_UNDERSTOOD } from "./demo-phrases.ts";
import { resultSentence } from "./demo-results.ts";
import { ABORTED } from "./failure.ts";
import { estimateUsage } from "./usage.ts";

export async function* streamDemo(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, Outcome> {
  const content = demoAnswer(request);
  const streamed: OutputBlock[] = [];
  for (const event of streamEvents(content, streamed)) {
    yield event;
    if (!signal.aborted) continue;
    if (event.type === "text_delta") yield { type: "text_end", index: event.index };
    return { ok: false, content: streamed, usage: null, failure: ABORTED };
  }
  const stop = content.some(({ type }) => type === "toolCall") ? "tools" : "end";
  return { ok: true, content, usage: estimateUsage(request, content, null), stop };
}

export function demoAnswer(request: ModelRequest): OutputBlock[] {
  const { messages } = request;
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const since = messages.slice(lastUser + 1);
  const results = since.filter((message) => message.role === "tool");
  if (results.length > 0)
    return [textBlock(results.map((result) => resultSentence(findCallArguments(since, result.callId), result)).join(" "))];
  const user = messages[lastUser];
  const text = user === undefined ? "" : messageText(user);
  const intent = parseIntent(text);
  if (intent === null) return [textBlock(text.trim() === "" ? HELP : NOT_UNDERSTOOD)];
  if (intent === "help") return [textBlock(HELP)];
  if (!request.tools.some(({ name }) => name === intent.tool))
    return [textBlock(`For that I need the ${intent.tool} tool, which I do not have here.`)];
  return [textBlock(intent.saying), { type: "toolCall", id: makeCallId(request), name: intent.tool, arguments: intent.args }];
}

function textBlock(text: string): OutputBlock {
  return { type: "text", text };
}

/** Derived from the process and all messages, so that two calls share an id only if they are the same request. */
function makeCallId({ affinity, messages }: ModelRequest): string {
  const texts = messages.map((message) => `${message.role} ${messageText(message)}`);
  return `demo-${[1, 2].map((seed) => hash(seed, [affinity, ...texts].join("\n"))).join("")}`;
}

/** 32-bit FNV-1a, in hex. */
function hash(seed: number, text: string): string {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}

function findCallArguments(messages: readonly ModelMessage[], callId: string): Record<string, unknown> {
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall" && block.id === callId) return block.arguments ?? {};
  }
  return {};
}

function messageText(message: ModelMessage): string {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** One word at a time, without delays. `streamed` grows as the events are consumed. */
function* streamEvents(content: readonly OutputBlock[], streamed: OutputBlock[]): Generator<ModelEvent> {
  for (const [index, block] of content.entries()) {
    if (block.type === "text") {
      let text = "";
      streamed[index] = { type: "text", text };
      yield { type: "text_start", index };
      for (const delta of block.text.match(/\s*\S+|\s+$/g) ?? []) {
        text += delta;
        streamed[index] = { type: "text", text };
        yield { type: "text_delta", index, delta };
      }
      yield { type: "text_end", index };
    } else if (block.type === "toolCall") {
      yield { type: "toolcall_start", index, id: block.id, name: block.name };
      yield { type: "toolcall_delta", index, delta: JSON.stringify(block.arguments) };
      streamed[index] = block;
      yield { type: "toolcall_end", index, call: block };
    }
  }
}
