// Models that say what a test wants: a few pieces, and then the whole.

import { yieldToEventLoop } from "../../src/lib/yield.ts";
import { orAborted } from "../../src/lib/or-aborted.ts";
import type { Deferred } from "../../src/lib/deferred.ts";
import type { ModelEvent, ModelRequest, Models, OutputBlock } from "../../src/ports/models.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: COST };

export class ScriptedModels implements Models {
  readonly requests: ModelRequest[] = [];
  /** How many were cut off. */
  aborted = 0;
  /** Answers wait for this, after their first piece. */
  holds: Deferred | null = null;
  answer: (request: ModelRequest) => OutputBlock[] = (request) => [{ type: "text", text: `heard ${lastText(request)}` }];

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const content = this.answer(request);
    yield { type: "text_start", index: 0 };
    // No model answers in the moment it is asked.
    await yieldToEventLoop();
    await orAborted(this.holds?.promise ?? Promise.resolve(), signal).catch(() => {});
    if (signal.aborted) {
      this.aborted++;
      yield { type: "error", content: [], usage: null, error: { kind: "aborted", message: "aborted" } };
      return;
    }
    const words = content.flatMap((block) => (block.type === "text" ? block.text.split(/(?<= )/) : []));
    for (const delta of words) yield { type: "text_delta", index: 0, delta };
    yield { type: "text_end", index: 0 };
    yield { type: "done", content, usage: USAGE, stop: content.some(({ type }) => type === "toolCall") ? "tools" : "end" };
  }
}

/** What was said last, by whomever. */
export function lastText({ messages }: ModelRequest): string {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
