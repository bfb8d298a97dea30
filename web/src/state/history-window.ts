// A window over the history of one conversation: consecutive messages, by position from the oldest. It grows at both ends, one
// page at a time. Every page overlaps the window by one message. If the two differ, the history was compacted or reset
// meanwhile, and the window reloads the newest page. So the window always matches the history.

import { signal } from "@preact/signals";
import type { Calls } from "../../../src/client/client.ts";

export type HistoryMessage = Calls["proc.history"]["result"]["messages"][number];
export type HistoryPage = Pick<Calls["proc.history"]["result"], "messages" | "messageCount">;

/** `from`: position of the first message. `total`: messages in the history. `reloads` changes when the content was replaced. */
export type WindowView = { from: number; messages: readonly HistoryMessage[]; total: number; reloads: number };

export const PAGE = 60;

export class HistoryWindow {
  readonly #read: (offset: number, limit: number) => Promise<HistoryPage>;
  readonly #view = signal<WindowView | null>(null);
  /** Runs reads one after the other: each decides what to fetch when it starts. */
  #queue: Promise<void> = Promise.resolve();
  /** A catch-up that has not started yet: it will see all earlier changes, so later callers share it. */
  #queuedCatchUp: Promise<void> | null = null;
  #reloads = 0;

  constructor(read: (offset: number, limit: number) => Promise<HistoryPage>) {
    this.#read = read;
  }

  get view(): WindowView | null {
    return this.#view.value;
  }

  peek(): WindowView | null {
    return this.#view.peek();
  }

  /** Replaces the content by the newest page. */
  reload(): Promise<void> {
    return this.#enqueue(() => this.#readNewest());
  }

  /** Reads messages added since. Calls made while one is queued share it. */
  catchUp(): Promise<void> {
    this.#queuedCatchUp ??= this.#enqueue(async () => {
      this.#queuedCatchUp = null;
      await this.#appendNewer(true);
    });
    return this.#queuedCatchUp;
  }

  readOlder(): Promise<void> {
    return this.#enqueue(async () => {
      const view = this.#view.peek();
      if (view === null || view.from === 0) return;
      const from = Math.max(0, view.from - PAGE);
      const { messages, messageCount } = await this.#read(from, view.from - from + 1);
      if (messages.at(-1)?.id !== view.messages[0]?.id) return this.#readNewest();
      this.#setView(from, [...messages.slice(0, -1), ...view.messages], messageCount);
    });
  }

  /** Appends the next page, for a window that does not reach the newest message. */
  readNewer(): Promise<void> {
    return this.#enqueue(() => this.#appendNewer(false));
  }

  /** Moves the window so that it contains the message at a position and some around it. */
  readAround(position: number): Promise<void> {
    return this.#enqueue(async () => {
      const view = this.#view.peek();
      if (view !== null && position >= view.from && position < view.from + view.messages.length) return;
      const from = Math.max(0, position - PAGE / 2);
      const { messages, messageCount } = await this.#read(from, PAGE);
      this.#reloads += 1;
      this.#setView(from, messages, messageCount);
    });
  }

  async #readNewest(): Promise<void> {
    const { messages, messageCount } = await this.#read(-PAGE, PAGE);
    this.#reloads += 1;
    this.#setView(messageCount - messages.length, messages, messageCount);
  }

  /** `isToEnd`: reads all new messages if the window reaches the end of the history; otherwise only updates the total. */
  async #appendNewer(isToEnd: boolean): Promise<void> {
    for (;;) {
      const view = this.#view.peek();
      if (view === null) return this.#readNewest();
      const end = view.from + view.messages.length;
      if (isToEnd && end < view.total) {
        const { messageCount } = await this.#read(-1, 1);
        return this.#setView(view.from, view.messages, Math.max(end, messageCount));
      }
      const overlap = Math.min(1, view.messages.length);
      const { messages, messageCount } = await this.#read(end - overlap, PAGE + overlap);
      if (overlap === 1 && messages[0]?.id !== view.messages.at(-1)!.id) return this.#readNewest();
      const added = messages.slice(overlap);
      const reached = end + added.length;
      const isAll = added.length === 0 || reached >= messageCount;
      // While more pages follow, the total is what was read so far, so that the window still counts as reaching the end.
      const total = isToEnd && !isAll ? reached : messageCount;
      if (added.length > 0 || total !== view.total) this.#setView(view.from, [...view.messages, ...added], total);
      if (!isToEnd || isAll) return;
    }
  }

  #setView(from: number, messages: readonly HistoryMessage[], total: number): void {
    this.#view.value = { from, messages, total, reloads: this.#reloads };
  }

  #enqueue(body: () => Promise<void>): Promise<void> {
    const result = this.#queue.then(body);
    this.#queue = result.catch(() => {});
    return result;
  }
}
