// The part of an answer that has arrived so far, for followers that connect in the middle of it. In memory only: after a restart
// the process calls the model again.

import type { ModelEvent, OutputBlock } from "../../ports/models.ts";
import type { AnswerEvent, LiveAnswer } from "../../protocol/proc-records.ts";

export class PartialAnswer {
  readonly #key: Pick<LiveAnswer, "runId" | "conversationId" | "modelCall">;
  #seq = 0;
  #blocks: OutputBlock[] = [];

  constructor(key: Pick<LiveAnswer, "runId" | "conversationId" | "modelCall">) {
    this.#key = key;
  }

  /** Returns the number of this piece. */
  add(event: ModelEvent): number {
    this.#apply(event);
    return ++this.#seq;
  }

  toLiveAnswer(): LiveAnswer {
    return { ...this.#key, seq: this.#seq, blocks: this.#blocks.filter((block) => block !== undefined).map((block) => ({ ...block })) };
  }

  #apply(event: ModelEvent): void {
    switch (event.type) {
      case "text_start":
        this.#blocks[event.index] = { type: "text", text: "" };
        return;
      case "thinking_start":
        this.#blocks[event.index] = { type: "thinking", thinking: "" };
        return;
      case "toolcall_start":
        // Arguments that are still arriving must not be taken for complete ones.
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

/** With the field names of the wire. */
export function toWireEvent(event: ModelEvent): AnswerEvent {
  if ("index" in event) {
    const { index, ...rest } = event;
    return { ...rest, contentIndex: index };
  }
  return event;
}
