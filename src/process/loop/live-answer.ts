// The answer that is just coming, as far as it has come: for those who begin to follow in the middle of it. Memory only: a
// new life of the process asks the model anew.

import type { ModelEvent, OutputBlock } from "../../ports/models.ts";
import type { AnswerEvent, LiveAnswer } from "../../protocol/proc-records.ts";

export class PartialAnswer {
  readonly #of: Pick<LiveAnswer, "runId" | "conversationId" | "modelCall">;
  #seq = 0;
  #blocks: OutputBlock[] = [];

  constructor(of: Pick<LiveAnswer, "runId" | "conversationId" | "modelCall">) {
    this.#of = of;
  }

  /** The number of this piece. */
  heard(event: ModelEvent): number {
    this.#take(event);
    return ++this.#seq;
  }

  answer(): LiveAnswer {
    return { ...this.#of, seq: this.#seq, blocks: this.#blocks.filter((block) => block !== undefined).map((block) => ({ ...block })) };
  }

  #take(event: ModelEvent): void {
    switch (event.type) {
      case "text_start":
        this.#blocks[event.index] = { type: "text", text: "" };
        return;
      case "thinking_start":
        this.#blocks[event.index] = { type: "thinking", thinking: "" };
        return;
      case "toolcall_start":
        // Nobody may take arguments for whole that are still coming.
        this.#blocks[event.index] = { type: "toolCall", id: event.id, name: event.name, arguments: null, raw: "" };
        return;
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta":
        return append(this.#blocks[event.index], event.delta);
      case "toolcall_end":
        this.#blocks[event.index] = event.call;
        return;
      case "retrying":
        this.#blocks = [];
        return;
      case "done":
      case "error":
        this.#blocks = [...event.content];
        return;
      default:
        return;
    }
  }
}

function append(block: OutputBlock | undefined, delta: string): void {
  if (block?.type === "text") block.text += delta;
  else if (block?.type === "thinking") block.thinking += delta;
  else if (block?.type === "toolCall") block.raw = (block.raw ?? "") + delta;
}

/** As the wire names it. */
export function wireEvent(event: ModelEvent): AnswerEvent {
  if ("index" in event) {
    const { index, ...rest } = event;
    return { ...rest, contentIndex: index };
  }
  return event;
}
