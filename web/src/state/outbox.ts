// What was just sent from this page and is not yet seen in the conversation. Each has a number of its own from the start,
// so that it can be sent again after a cut without being said twice, and is known again when it appears.

import { signal } from "@preact/signals";
import type { Args } from "./call.ts";
import { call, sentence } from "./call.ts";

export type SentMedia = NonNullable<Args<"proc.send">["media"]>[number];
/** `isTaken`: the gateway has it, and it will be among the messages or in the queue. */
export type Outgoing = { runId: string; text: string; media: SentMedia[]; problem: string | null; isTaken: boolean };

export class Outbox {
  readonly #pid: string;
  readonly #conversationId: string;
  readonly #waiting = signal<readonly Outgoing[]>([]);

  constructor(pid: string, conversationId: string) {
    this.#pid = pid;
    this.#conversationId = conversationId;
  }

  get waiting(): readonly Outgoing[] {
    return this.#waiting.value;
  }

  /** Resolves when the gateway has it, or it is known that it could not be sent. */
  async send(runId: string, text: string, media: SentMedia[]): Promise<boolean> {
    const outgoing = { runId, text, media, problem: null, isTaken: false };
    this.#waiting.value = [...this.#waiting.peek().filter((one) => one.runId !== runId), outgoing];
    try {
      const withMedia = media.length === 0 ? {} : { media };
      await call("proc.send", { pid: this.#pid, conversationId: this.#conversationId, message: text, runId, ...withMedia });
      this.#change(runId, { isTaken: true });
      return true;
    } catch (error) {
      this.#change(runId, { problem: sentence(error) });
      return false;
    }
  }

  again(runId: string): Promise<boolean> {
    const one = this.#waiting.peek().find((outgoing) => outgoing.runId === runId);
    return one === undefined ? Promise.resolve(false) : this.send(runId, one.text, one.media);
  }

  /** It is seen elsewhere, or no longer wanted. */
  drop(isGone: (outgoing: Outgoing) => boolean): void {
    const left = this.#waiting.peek().filter((one) => !isGone(one));
    if (left.length !== this.#waiting.peek().length) this.#waiting.value = left;
  }

  #change(runId: string, to: Partial<Outgoing>): void {
    this.#waiting.value = this.#waiting.peek().map((one) => (one.runId === runId ? { ...one, ...to } : one));
  }
}
