// The activity of a process, shared by all components that show it: one subscription per process. Pieces of an answer are
// published at most once per animation frame, however fast they arrive.

import { type ReadonlySignal, signal } from "@preact/signals";
import {
  type Activity,
  type StreamedAnswer,
  type Client,
  type FollowedEvent,
  type Subscription,
  IDLE,
  reduce,
  setLiveAnswer,
} from "../../../src/client/client.ts";
import { RUN_STREAM } from "../../../src/protocol/signal-names.ts";
import { client } from "./session.ts";

export type FeedListener = {
  /** `ended`: the streamed answer, if this event ended it; it has become a message or was discarded. */
  onEvent(event: FollowedEvent, ended: StreamedAnswer | null): void;
  /** Called when the feed goes live, or a listener joins a live feed: earlier events may be missing, so refetch everything. */
  onResync(isGap: boolean, ended: StreamedAnswer | null): void;
  onError(error: Error): void;
};

/** A feed outlives its last listener by this long, so that switching conversations of a process keeps the subscription. */
const LINGER_MS = 5_000;
const feeds = new Map<string, Feed>();

/** `stop` removes the listener. */
export function listenToFeed(pid: string, listener: FeedListener): { activity: ReadonlySignal<Activity>; stop(): void } {
  const currentClient = client.peek();
  let feed = feeds.get(pid);
  if (feed === undefined || feed.isEnded || feed.client !== currentClient) {
    feed?.end();
    feed = new Feed(pid, currentClient!);
    feeds.set(pid, feed);
  }
  return { activity: feed.activity, stop: feed.addListener(listener) };
}

class Feed {
  readonly client: Client;
  readonly activity = signal<Activity>(IDLE);
  readonly #listeners = new Set<FeedListener>();
  readonly #subscription: Subscription;
  /** May be ahead of `activity` by the pieces of one animation frame. */
  #current = IDLE;
  #frame: number | null = null;
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  #isLive = false;
  #isGap = false;
  isEnded = false;

  constructor(pid: string, client: Client) {
    this.client = client;
    this.#subscription = client.follow({
      pid,
      onEvent: (event) => this.#onEvent(event),
      onPiece: (payload) => {
        this.#current = reduce(this.#current, { signal: RUN_STREAM, payload });
        this.#frame ??= requestAnimationFrame(() => this.#publish());
      },
      onGap: () => (this.#isGap = true),
      onLiveAnswer: (live) => {
        const previousAnswer = this.#current.answer;
        this.#current = setLiveAnswer(this.#current, live);
        this.#isLive = true;
        const isSame =
          previousAnswer !== null && live !== null && live.runId === previousAnswer.runId && live.modelCall === previousAnswer.modelCall;
        const [isGap, ended] = [this.#isGap, isSame ? null : previousAnswer];
        this.#isGap = false;
        this.#publish();
        for (const listener of this.#listeners) listener.onResync(isGap, ended);
      },
      onError: (error) => {
        this.isEnded = true;
        for (const listener of this.#listeners) listener.onError(error);
      },
    });
  }

  addListener(listener: FeedListener): () => void {
    clearTimeout(this.#endTimer);
    this.#listeners.add(listener);
    if (this.#isLive) queueMicrotask(() => this.#listeners.has(listener) && listener.onResync(false, null));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#endTimer);
      this.#endTimer = setTimeout(() => this.end(), LINGER_MS);
    };
  }

  end(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.isEnded = true;
    this.#subscription.stop();
  }

  #onEvent(event: FollowedEvent): void {
    const before = this.#current.answer;
    this.#current = reduce(this.#current, event);
    const ended = this.#current.answer === null ? before : null;
    this.#publish();
    for (const listener of this.#listeners) listener.onEvent(event, ended);
  }

  #publish(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.activity.value = this.#current;
  }
}
