// What a process is doing, for everybody in this page who shows something of it: followed once, however many do. Pieces of an
// answer are shown once for every frame of the screen, however fast they arrive.

import { type ReadonlySignal, signal } from "@preact/signals";
import {
  type Activity,
  type StreamedAnswer,
  type Client,
  type FollowedEvent,
  type Subscription,
  IDLE,
  reduce,
  resume,
} from "../../../src/client/client.ts";
import { RUN_STREAM } from "../../../src/protocol/signal-names.ts";
import { client } from "./session.ts";

export type FeedListener = {
  /** `ended` is the answer that was arriving and is now a message, or void. */
  onEvent(event: FollowedEvent, ended: StreamedAnswer | null): void;
  /** Something may have been missed, or nobody was listening: look at everything again. */
  onAnew(isGap: boolean, ended: StreamedAnswer | null): void;
  onError(error: Error): void;
};

/** Going from one conversation to another of the same process ends nothing. */
const STAYS_MS = 5_000;
const feeds = new Map<string, Feed>();

/** Returns the way to stop. */
export function listen(pid: string, listener: FeedListener): { activity: ReadonlySignal<Activity>; stop(): void } {
  const now = client.peek();
  let feed = feeds.get(pid);
  if (feed === undefined || feed.isOver || feed.client !== now) {
    feed?.end();
    feed = new Feed(pid, now!);
    feeds.set(pid, feed);
  }
  return { activity: feed.activity, stop: feed.add(listener) };
}

class Feed {
  readonly client: Client;
  readonly activity = signal<Activity>(IDLE);
  readonly #listeners = new Set<FeedListener>();
  readonly #following: Subscription;
  /** Ahead of what is shown by the pieces of at most one frame. */
  #now = IDLE;
  #frame: number | null = null;
  #leaving: ReturnType<typeof setTimeout> | undefined;
  #isBegun = false;
  #isGap = false;
  isOver = false;

  constructor(pid: string, client: Client) {
    this.client = client;
    this.#following = client.follow({
      pid,
      onEvent: (event) => this.#event(event),
      onPiece: (payload) => {
        this.#now = reduce(this.#now, { signal: RUN_STREAM, payload });
        this.#frame ??= requestAnimationFrame(() => this.#show());
      },
      onGap: () => (this.#isGap = true),
      onLive: (live) => {
        const before = this.#now.answer;
        this.#now = resume(this.#now, live);
        this.#isBegun = true;
        const isSame = before !== null && live !== null && live.runId === before.runId && live.modelCall === before.modelCall;
        const [isGap, ended] = [this.#isGap, isSame ? null : before];
        this.#isGap = false;
        this.#show();
        for (const listener of this.#listeners) listener.onAnew(isGap, ended);
      },
      onError: (error) => {
        this.isOver = true;
        for (const listener of this.#listeners) listener.onError(error);
      },
    });
  }

  add(listener: FeedListener): () => void {
    clearTimeout(this.#leaving);
    this.#listeners.add(listener);
    if (this.#isBegun) queueMicrotask(() => this.#listeners.has(listener) && listener.onAnew(false, null));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#leaving);
      this.#leaving = setTimeout(() => this.end(), STAYS_MS);
    };
  }

  end(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.isOver = true;
    this.#following.stop();
  }

  #event(event: FollowedEvent): void {
    const before = this.#now.answer;
    this.#now = reduce(this.#now, event);
    const ended = this.#now.answer === null ? before : null;
    this.#show();
    for (const listener of this.#listeners) listener.onEvent(event, ended);
  }

  #show(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.activity.value = this.#now;
  }
}
