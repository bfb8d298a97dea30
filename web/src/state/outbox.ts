// Messages sent from this page that do not appear in the conversation yet. Each has its run id from the start, so that it can be
// resent after a disconnect without being delivered twice, and is recognized when it appears. Texts are stored until the gateway has
// them, so that a reload loses none; files are not, because browsers have no room for them.

import { signal } from "@preact/signals";
import type { Args } from "./call.ts";
import { call, describeError } from "./call.ts";
import { readItem, writeItem } from "./local-storage.ts";
import { username } from "./session.ts";

export type SentMedia = NonNullable<Args<"proc.send">["media"]>[number];
/** Settings for the run of one message, such as another model. */
export type SentSettings = NonNullable<Args<"proc.send">["settings"]>;
export type NewMessage = { runId: string; text: string; media: SentMedia[]; settings: SentSettings };
export type OutgoingMessage = NewMessage & {
  problem: string | null;
  /** The gateway has it, and it will appear among the messages or in the queue. */
  isAccepted: boolean;
  /** How many files it had before the page was reloaded. */
  lostFiles: number;
};
type StoredMessage = { runId: string; text: string; settings: SentSettings; files: number };

const NOT_CONFIRMED = "The page was closed before the gateway had confirmed this message.";
const outboxes = new Map<string, Outbox>();

/** One for each conversation, as long as the page is open: what could not be sent is there when somebody comes back to it. */
export function findOutbox(pid: string, conversationId: string): Outbox {
  const key = `gsv.outbox.${username.peek()}.${pid}.${conversationId}`;
  const outbox = outboxes.get(key) ?? new Outbox(key, pid, conversationId);
  outboxes.set(key, outbox);
  return outbox;
}

export class Outbox {
  readonly #storageKey: string;
  readonly #pid: string;
  readonly #conversationId: string;
  readonly #messages = signal<readonly OutgoingMessage[]>([]);

  constructor(storageKey: string, pid: string, conversationId: string) {
    this.#storageKey = storageKey;
    this.#pid = pid;
    this.#conversationId = conversationId;
    this.#messages.value = readStored(storageKey).map(({ files, ...message }) => ({
      ...message,
      media: [],
      problem: files === 0 ? NOT_CONFIRMED : `${NOT_CONFIRMED} Its files are not here any more: add them to a new message.`,
      isAccepted: false,
      lostFiles: files,
    }));
  }

  get messages(): readonly OutgoingMessage[] {
    return this.#messages.value;
  }

  /** Resolves to whether the gateway has accepted it. */
  async send(message: NewMessage): Promise<boolean> {
    const { runId, text, media, settings } = message;
    this.store(message);
    this.#put({ ...message, problem: null, isAccepted: false, lostFiles: 0 });
    try {
      const withMedia = media.length === 0 ? {} : { media };
      const to = { pid: this.#pid, conversationId: this.#conversationId };
      await call("proc.send", { ...to, message: text, runId, settings, ...withMedia });
      this.forget(runId);
      this.#update(runId, { isAccepted: true });
      return true;
    } catch (error) {
      this.#update(runId, { problem: describeError(error) });
      return false;
    }
  }

  resend(runId: string): Promise<boolean> {
    const message = this.#messages.peek().find((outgoing) => outgoing.runId === runId);
    return message === undefined ? Promise.resolve(false) : this.send(message);
  }

  /** Shows a message that was not sent, and why; the user can send it again. */
  addFailed(message: NewMessage, problem: string): void {
    this.store(message);
    this.#put({ ...message, problem, isAccepted: false, lostFiles: 0 });
  }

  /** For messages that have appeared in the conversation, or that the user discards. */
  removeWhere(isGone: (outgoing: OutgoingMessage) => boolean): void {
    const gone = this.#messages.peek().filter(isGone);
    if (gone.length === 0) return;
    this.#messages.value = this.#messages.peek().filter((one) => !gone.includes(one));
    for (const { runId } of gone) this.forget(runId);
  }

  /** Until `forget`, the text survives a reload. A message of files alone has none. */
  store({ runId, text, media, settings }: NewMessage): void {
    if (text === "") return;
    this.#writeStored([...this.#listStoredBut(runId), { runId, text, settings, files: media.length }]);
  }

  forget(runId: string): void {
    this.#writeStored(this.#listStoredBut(runId));
  }

  /** Read anew, because other tabs send messages too. */
  #listStoredBut(runId: string): StoredMessage[] {
    return readStored(this.#storageKey).filter((one) => one.runId !== runId);
  }

  #writeStored(stored: readonly StoredMessage[]): void {
    writeItem(this.#storageKey, stored.length === 0 ? null : JSON.stringify(stored));
  }

  #put(outgoing: OutgoingMessage): void {
    this.#messages.value = [...this.#messages.peek().filter(({ runId }) => runId !== outgoing.runId), outgoing];
  }

  #update(runId: string, to: Partial<OutgoingMessage>): void {
    this.#messages.value = this.#messages.peek().map((one) => (one.runId === runId ? { ...one, ...to } : one));
  }
}

function readStored(storageKey: string): StoredMessage[] {
  try {
    const stored: unknown = JSON.parse(readItem(storageKey) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isStoredMessage) : [];
  } catch {
    return [];
  }
}

function isStoredMessage(value: unknown): value is StoredMessage {
  const { runId, text, settings, files } = (value ?? {}) as Partial<StoredMessage>;
  return typeof runId === "string" && typeof text === "string" && typeof settings === "object" && typeof files === "number";
}
