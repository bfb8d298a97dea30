// Follows a process: everything it does, in order and once, whatever happens to the line in between. Events are numbered by
// the process; after a cut, or where a number is missing, what came since the last one is asked for. Pieces of the answer that
// is just coming are not numbered so: who comes in the middle is given the answer so far and then the pieces after it.

import type { Client } from "./client.ts";

/** `isPast`: it had happened before one asked, and is told now because one was away. */
export type Followed = { seq: number; signal: string; payload: Record<string, unknown>; isPast: boolean };

/** A part of a model's answer as it comes: `event` as the model's, `seq` counts those of one model call. */
export type StreamPiece = {
  runId: string;
  conversationId: string;
  modelCall: number;
  seq: number;
  /** Where several came as one: the number of the first of them. */
  firstSeq?: number;
  event: Record<string, unknown> & { type: string };
};

/** As much of the answer as had come: pieces up to `seq` are in `blocks`. */
export type LiveAnswer = { runId: string; conversationId: string; modelCall: number; seq: number; blocks: Record<string, unknown>[] };

export type FollowOptions = {
  pid?: string;
  /** The number of the last event one has seen; without it, what happened before now is not told. */
  after?: number;
  onEvent(event: Followed): void;
  onPiece?(piece: StreamPiece): void;
  /** Whenever one has just begun to follow, also after a cut: the answer that is coming, or that there is none. */
  onLive?(live: LiveAnswer | null, seq: number): void;
  /** What happened meanwhile is no longer kept: read the history anew; events go on from `seq`. */
  onGap?(seq: number): void;
  /** It cannot be followed: there is no such process, or the client was closed. */
  onError?(error: Error): void;
};

export type Following = {
  /** The number of the last event that was told. */
  readonly seq: number | null;
  /** When it has begun. */
  readonly begun: Promise<{ pid: string; seq: number }>;
  stop(): void;
};

type Numbered = { seq: number; signal: string; payload: Record<string, unknown> };
const STREAM = "proc.run.stream";

export function follow(client: Pick<Client, "call" | "onSignal" | "onBack">, options: FollowOptions): Following {
  let pid = options.pid ?? null;
  let last = options.after ?? null;
  let isStopped = false;
  /** What came while one asked; told after what is older. */
  let held: (Numbered | StreamPiece)[] | null = null;
  let live: Pick<LiveAnswer, "runId" | "modelCall" | "seq"> | null = null;
  let begin: (value: { pid: string; seq: number }) => void;
  let refuse: (error: Error) => void;
  const begun = new Promise<{ pid: string; seq: number }>((resolve, reject) => {
    begin = resolve;
    refuse = reject;
  });
  begun.catch(() => {});

  const piece = (one: StreamPiece) => {
    if (live !== null && one.runId === live.runId && one.modelCall === live.modelCall && one.seq <= live.seq) return;
    options.onPiece?.(one);
  };
  const event = (one: Numbered, isPast: boolean) => {
    if (last !== null && one.seq <= last) return;
    if (last !== null && one.seq > last + 1) return void ask();
    last = one.seq;
    options.onEvent({ ...one, isPast });
  };
  const release = (upTo: number) => {
    const all = held ?? [];
    held = null;
    // Pieces that came before an event one was told with the answer are of something that was over by then.
    const told = all.findLastIndex((one) => "signal" in one && one.seq <= upTo);
    for (const one of all.slice(told + 1)) {
      if (isStopped) return;
      // A gap among them asks anew, and holds what follows.
      if (held !== null) (held as (Numbered | StreamPiece)[]).push(one);
      else if ("signal" in one) event(one, false);
      else piece(one);
    }
  };
  const ask = async (): Promise<void> => {
    if (held !== null || isStopped) return;
    held = [];
    try {
      const answer = await client.call("proc.subscribe", { ...(pid === null ? {} : { pid }), ...(last === null ? {} : { after: last }) });
      if (isStopped) return;
      pid = answer.pid;
      if (answer.isWhole) for (const one of answer.events as Numbered[]) event(one, true);
      else options.onGap?.(answer.seq);
      last = Math.max(last ?? 0, answer.seq);
      live = answer.live;
      options.onLive?.(answer.live, answer.seq);
      begin({ pid: answer.pid, seq: answer.seq });
      release(answer.seq);
    } catch (error) {
      held = null;
      if (isStopped) return;
      refuse(error as Error);
      options.onError?.(error as Error);
    }
  };

  const stopListening = client.onSignal((signal, payload, seq) => {
    const of = payload as Record<string, unknown> | null;
    if (of === null || typeof of !== "object" || pid === null || of.pid !== pid) return;
    if (signal === STREAM) {
      if (held === null) piece(of as StreamPiece);
      else held.push(of as StreamPiece);
    } else if (seq !== undefined) {
      const one = { seq, signal, payload: of };
      if (held === null) event(one, false);
      else held.push(one);
    }
  });
  const stopBack = client.onBack(() => {
    // What was being asked for was asked on a line that is gone.
    held = null;
    void ask();
  });
  void ask();
  return {
    get seq() {
      return last;
    },
    begun,
    stop() {
      if (isStopped) return;
      isStopped = true;
      stopListening();
      stopBack();
      if (pid !== null) client.call("proc.unsubscribe", { pid }).catch(() => {});
    },
  };
}
