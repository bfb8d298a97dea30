// Models that answer as the test says: a few deltas, and then the whole answer.

import { yieldToEventLoop } from "../../src/lib/yield.ts";
import { rejectOnAbort } from "../../src/lib/or-aborted.ts";
import type { Deferred } from "../../src/lib/deferred.ts";
import type { ModelEvent, ModelRequest, Models, OutputBlock } from "../../src/ports/models.ts";

const COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: COST };

export class ScriptedModels implements Models {
  readonly requests: ModelRequest[] = [];
  /** How many requests were aborted. */
  aborted = 0;
  /** Answers wait for this after their first event. */
  holds: Deferred | null = null;
  answer: (request: ModelRequest) => OutputBlock[] = (request) => [{ type: "text", text: `heard ${lastText(request)}` }];

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const content = this.answer(request);
    yield { type: "text_start", index: 0 };
    // No model answers synchronously.
    await yieldToEventLoop();
    await rejectOnAbort(this.holds?.promise ?? Promise.resolve(), signal).catch(() => {});
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

/** The text of the last message, whatever its role. */
export function lastText({ messages }: ModelRequest): string {
  const blocks = messages.at(-1)?.content ?? [];
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
