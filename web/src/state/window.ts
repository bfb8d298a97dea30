// A window over the history of one conversation: messages that lie together, by their places from the oldest. It grows at
// both ends, a page at a time. Every page overlaps what is there by one message; where the two are not the same, the history
// was shortened or emptied meanwhile, and the newest page is read anew. So whatever happened, what is shown is what is there.

import { signal } from "@preact/signals";
import type { Calls } from "../../../src/client/client.ts";

export type HistoryMessage = Calls["proc.history"]["result"]["messages"][number];
export type HistoryPage = Pick<Calls["proc.history"]["result"], "messages" | "messageCount">;

/** `from` is the place of the first; `total` how many there are in all; `life` changes where nothing is as it was. */
export type WindowView = { from: number; messages: readonly HistoryMessage[]; total: number; life: number };

export const PAGE = 60;

export class HistoryWindow {
  readonly #read: (offset: number, limit: number) => Promise<HistoryPage>;
  readonly #view = signal<WindowView | null>(null);
  /** One after the other: what is asked for is decided when its turn comes. */
  #last: Promise<void> = Promise.resolve();
  /** Waits for its turn, and will see all that happened before it. */
  #catching: Promise<void> | null = null;
  #life = 0;

  constructor(read: (offset: number, limit: number) => Promise<HistoryPage>) {
    this.#read = read;
  }

  get view(): WindowView | null {
    return this.#view.value;
  }

  peek(): WindowView | null {
    return this.#view.peek();
  }

  /** The newest page, whatever was there. */
  readAnew(): Promise<void> {
    return this.#inTurn(() => this.#anew());
  }

  /** What was added since; calls that come while one waits share it. */
  catchUp(): Promise<void> {
    this.#catching ??= this.#inTurn(async () => {
      this.#catching = null;
      await this.#append(true);
    });
    return this.#catching;
  }

  readOlder(): Promise<void> {
    return this.#inTurn(async () => {
      const view = this.#view.peek();
      if (view === null || view.from === 0) return;
      const from = Math.max(0, view.from - PAGE);
      const { messages, messageCount } = await this.#read(from, view.from - from + 1);
      if (messages.at(-1)?.id !== view.messages[0]?.id) return this.#anew();
      this.#show(from, [...messages.slice(0, -1), ...view.messages], messageCount);
    });
  }

  /** For a window that does not reach to the newest. */
  readNewer(): Promise<void> {
    return this.#inTurn(() => this.#append(false));
  }

  /** So that the message at a place is in it, with some before and after. */
  readAround(place: number): Promise<void> {
    return this.#inTurn(async () => {
      const view = this.#view.peek();
      if (view !== null && place >= view.from && place < view.from + view.messages.length) return;
      const from = Math.max(0, place - PAGE / 2);
      const { messages, messageCount } = await this.#read(from, PAGE);
      this.#life += 1;
      this.#show(from, messages, messageCount);
    });
  }

  async #anew(): Promise<void> {
    const { messages, messageCount } = await this.#read(-PAGE, PAGE);
    this.#life += 1;
    this.#show(messageCount - messages.length, messages, messageCount);
  }

  /** `isToEnd`: all there is, unless the window lies somewhere else; then only how much there is. */
  async #append(isToEnd: boolean): Promise<void> {
    for (;;) {
      const view = this.#view.peek();
      if (view === null) return this.#anew();
      const end = view.from + view.messages.length;
      if (isToEnd && end < view.total) {
        const { messageCount } = await this.#read(-1, 1);
        return this.#show(view.from, view.messages, Math.max(end, messageCount));
      }
      const overlap = Math.min(1, view.messages.length);
      const { messages, messageCount } = await this.#read(end - overlap, PAGE + overlap);
      if (overlap === 1 && messages[0]?.id !== view.messages.at(-1)!.id) return this.#anew();
      const added = messages.slice(overlap);
      const reached = end + added.length;
      const isAll = added.length === 0 || reached >= messageCount;
      // Where more is to come with the next page, it ends here for now: it does not lie somewhere else.
      const total = isToEnd && !isAll ? reached : messageCount;
      if (added.length > 0 || total !== view.total) this.#show(view.from, [...view.messages, ...added], total);
      if (!isToEnd || isAll) return;
    }
  }

  #show(from: number, messages: readonly HistoryMessage[], total: number): void {
    this.#view.value = { from, messages, total, life: this.#life };
  }

  #inTurn(body: () => Promise<void>): Promise<void> {
    const done = this.#last.then(body);
    this.#last = done.catch(() => {});
    return done;
  }
}
