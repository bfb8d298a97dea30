// Follows a process: everything it does, in order and once, whatever happens to the line in between. Events are numbered by
// the process; after a cut, or where a number is missing, what came since the last one is asked for. Pieces of the answer that
// is just coming are not numbered so: who comes in the middle is given the answer so far and then the pieces after it.

import type { LiveAnswer } from "../protocol/proc-records.ts";
import { RUN_STREAM } from "../protocol/signal-names.ts";
import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { Client } from "./client.ts";

/** `isPast`: it happened before one asked, and is told now because one was away. */
export type Followed = ProcessEvent & { isPast: boolean };

export type FollowOptions = {
  pid?: string;
  /** The number of the last event one has seen; without it, what happened before now is not told. */
  after?: number;
  onEvent(event: Followed): void;
  onPiece?(piece: AnswerPiece): void;
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

export function follow(client: Pick<Client, "call" | "onSignal" | "onBack">, options: FollowOptions): Following {
  let pid = options.pid ?? null;
  let last = options.after ?? null;
  let isStopped = false;
  /** What came while one asked; told after what is older. */
  let held: (ProcessEvent | AnswerPiece)[] | null = null;
  let live: Pick<LiveAnswer, "runId" | "modelCall" | "seq"> | null = null;
  let begin: (value: { pid: string; seq: number }) => void;
  let refuse: (error: Error) => void;
  const begun = new Promise<{ pid: string; seq: number }>((resolve, reject) => {
    begin = resolve;
    refuse = reject;
  });
  begun.catch(() => {});

  const piece = (one: AnswerPiece) => {
    if (live !== null && one.runId === live.runId && one.modelCall === live.modelCall && one.seq <= live.seq) return;
    // From here on pieces come in order, and the first again only where the model is asked anew.
    live = null;
    options.onPiece?.(one);
  };
  const event = (one: ProcessEvent, isPast: boolean) => {
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
      if (held !== null) (held as (ProcessEvent | AnswerPiece)[]).push(one);
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
      if (answer.isWhole) for (const one of answer.events as ProcessEvent[]) event(one, true);
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

  const stopListening = client.onSignal(({ signal, payload, seq }) => {
    if (pid === null || !("pid" in payload) || payload.pid !== pid) return;
    if (signal === RUN_STREAM) {
      if (held === null) piece(payload);
      else held.push(payload);
    } else if (seq !== undefined) {
      const one = { seq, signal, payload } as ProcessEvent;
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
