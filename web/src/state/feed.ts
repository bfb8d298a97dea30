// What a process tells, for everybody in this page who shows something of it: followed once, however many do. Keeps the
// answer that is just coming; its pieces are shown once for every frame of the screen, however fast they come.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client, Followed, Following } from "../../../src/client/client.ts";
import { begun, type Coming, heard } from "./live-answer.ts";
import { client } from "./session.ts";

export type FeedListener = {
  /** `ended` is the answer that was coming and is now a message, or void. */
  onEvent(event: Followed, ended: Coming | null): void;
  /** Something may have been missed, or nobody was listening: look at everything again. */
  onAnew(isGap: boolean, ended: Coming | null): void;
  onError(error: Error): void;
};

/** Going from one conversation to another of the same process ends nothing. */
const STAYS_MS = 5_000;
const OVER_KEPT = 200;
const feeds = new Map<string, Feed>();

/** Returns the way to stop. */
export function listen(pid: string, listener: FeedListener): { live: ReadonlySignal<Coming | null>; stop(): void } {
  const now = client.peek();
  let feed = feeds.get(pid);
  if (feed === undefined || feed.isOver || feed.client !== now) {
    feed?.end();
    feed = new Feed(pid, now!);
    feeds.set(pid, feed);
  }
  return { live: feed.live, stop: feed.add(listener) };
}

class Feed {
  readonly client: Client;
  readonly live = signal<Coming | null>(null);
  readonly #listeners = new Set<FeedListener>();
  readonly #following: Following;
  #answer: Coming | null = null;
  /** Answers that are said and runs that are over, the newest last. */
  readonly #over = new Set<string>();
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
      onPiece: (piece) => {
        // What a model still says after its answer was taken, or its run stopped, belongs to nothing.
        if (this.#over.has(piece.runId) || this.#over.has(`${piece.runId} ${piece.modelCall}`)) return;
        this.#answer = heard(this.#answer, piece);
        this.#frame ??= requestAnimationFrame(() => this.#show());
      },
      onGap: () => (this.#isGap = true),
      onLive: (live) => {
        const before = this.#answer;
        this.#answer = live === null ? null : begun(live);
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

  #event(event: Followed): void {
    const ended = this.#endedBy(event);
    if (event.signal === "proc.run.finished" && typeof event.payload.runId === "string") this.#ended(event.payload.runId);
    if (ended !== null) {
      this.#ended(ended.runId, ended.modelCall);
      this.#answer = null;
      this.#show();
    }
    for (const listener of this.#listeners) listener.onEvent(event, ended);
  }

  /** An answer that became a message, or whose run is over. */
  #endedBy({ signal, payload }: Followed): Coming | null {
    const answer = this.#answer;
    if (answer === null || payload.runId !== answer.runId) return null;
    const isSaid = signal === "proc.changed" && (payload.role === "assistant" || payload.role === "system");
    return isSaid || signal === "proc.run.finished" ? answer : null;
  }

  #ended(runId: string, modelCall?: number): void {
    this.#over.add(modelCall === undefined ? runId : `${runId} ${modelCall}`);
    for (const oldest of this.#over) if (this.#over.size > OVER_KEPT) this.#over.delete(oldest);
  }

  #show(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.live.value = this.#answer;
  }
}
