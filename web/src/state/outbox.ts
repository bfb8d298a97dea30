// Messages sent from this page that do not appear in the conversation yet. Each has its run id from the start, so that it can be
// resent after a disconnect without being delivered twice, and is recognized when it appears.

import { signal } from "@preact/signals";
import type { Args } from "./call.ts";
import { call, describeError } from "./call.ts";

export type SentMedia = NonNullable<Args<"proc.send">["media"]>[number];
/** `isAccepted`: the gateway has it, and it will appear among the messages or in the queue. */
/** Settings for the run of one message, such as another model. */
export type SentSettings = NonNullable<Args<"proc.send">["settings"]>;
export type OutgoingMessage = {
  runId: string;
  text: string;
  media: SentMedia[];
  settings: SentSettings;
  problem: string | null;
  isAccepted: boolean;
};

export class Outbox {
  readonly #pid: string;
  readonly #conversationId: string;
  readonly #messages = signal<readonly OutgoingMessage[]>([]);

  constructor(pid: string, conversationId: string) {
    this.#pid = pid;
    this.#conversationId = conversationId;
  }

  get messages(): readonly OutgoingMessage[] {
    return this.#messages.value;
  }

  /** Resolves to whether the gateway has accepted it. */
  async send(runId: string, text: string, media: SentMedia[], settings: SentSettings = {}): Promise<boolean> {
    const outgoing = { runId, text, media, settings, problem: null, isAccepted: false };
    this.#messages.value = [...this.#messages.peek().filter((one) => one.runId !== runId), outgoing];
    try {
      const withMedia = media.length === 0 ? {} : { media };
      const to = { pid: this.#pid, conversationId: this.#conversationId };
      await call("proc.send", { ...to, message: text, runId, settings, ...withMedia });
      this.#update(runId, { isAccepted: true });
      return true;
    } catch (error) {
      this.#update(runId, { problem: describeError(error) });
      return false;
    }
  }

  resend(runId: string): Promise<boolean> {
    const message = this.#messages.peek().find((outgoing) => outgoing.runId === runId);
    return message === undefined ? Promise.resolve(false) : this.send(runId, message.text, message.media, message.settings);
  }

  /** For messages that have appeared in the conversation, or that the user discards. */
  removeWhere(isGone: (outgoing: OutgoingMessage) => boolean): void {
    const remaining = this.#messages.peek().filter((one) => !isGone(one));
    if (remaining.length !== this.#messages.peek().length) this.#messages.value = remaining;
  }

  #update(runId: string, to: Partial<OutgoingMessage>): void {
    this.#messages.value = this.#messages.peek().map((one) => (one.runId === runId ? { ...one, ...to } : one));
  }
}
