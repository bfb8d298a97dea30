// Follows a process: all its events, in order and once, across disconnects. The process numbers its events; after a disconnect,
// or if a number is missing, the client asks for the events since the last one. The pieces of an arriving answer are not part of
// this numbering: a client that joins in the middle gets the answer so far and then the pieces after it.

import type { LiveAnswer } from "../protocol/proc-records.ts";
import { RUN_STREAM } from "../protocol/signal-names.ts";
import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { Client } from "./client.ts";

/** `isPast`: the event happened while the client was away, and is delivered late. */
export type FollowedEvent = ProcessEvent & { isPast: boolean };

export type FollowOptions = {
  pid?: string;
  /** The number of the last event that the caller has seen; without it, earlier events are not delivered. */
  after?: number;
  onEvent(event: FollowedEvent): void;
  onPiece?(piece: AnswerPiece): void;
  /** Called at the start and after each reconnect: the answer that is arriving, or null. */
  onLiveAnswer?(live: LiveAnswer | null, seq: number): void;
  /** The missed events are no longer stored: reload the history; events continue after `seq`. */
  onGap?(seq: number): void;
  /** Following failed: there is no such process, or the client was closed. */
  onError?(error: Error): void;
};

export type Subscription = {
  /** The number of the last event that was delivered. */
  readonly seq: number | null;
  /** Resolves when the first subscription is answered. */
  readonly begun: Promise<{ pid: string; seq: number }>;
  stop(): void;
};

export function follow(client: Pick<Client, "call" | "onSignal" | "onReconnect">, options: FollowOptions): Subscription {
  let pid = options.pid ?? null;
  let last = options.after ?? null;
  let isStopped = false;
  /** Signals that arrive while the subscription is pending; delivered after the older ones in its answer. */
  let pending: (ProcessEvent | AnswerPiece)[] | null = null;
  let live: Pick<LiveAnswer, "runId" | "modelCall" | "seq"> | null = null;
  let resolveBegun: (value: { pid: string; seq: number }) => void;
  let rejectBegun: (error: Error) => void;
  const begun = new Promise<{ pid: string; seq: number }>((resolve, reject) => {
    resolveBegun = resolve;
    rejectBegun = reject;
  });
  begun.catch(() => {});

  const deliverPiece = (one: AnswerPiece) => {
    if (live !== null && one.runId === live.runId && one.modelCall === live.modelCall && one.seq <= live.seq) return;
    // From here on pieces arrive in order, and the first one repeats only if the model is called again.
    live = null;
    options.onPiece?.(one);
  };
  const deliverEvent = (one: ProcessEvent, isPast: boolean) => {
    if (last !== null && one.seq <= last) return;
    if (last !== null && one.seq > last + 1) return void subscribe();
    last = one.seq;
    options.onEvent({ ...one, isPast });
  };
  const deliverPending = (upTo: number) => {
    const all = pending ?? [];
    pending = null;
    // Pieces that arrived before an event in the answer belong to something that was over by then.
    const lastCovered = all.findLastIndex((one) => "signal" in one && one.seq <= upTo);
    for (const one of all.slice(lastCovered + 1)) {
      if (isStopped) return;
      // A gap among them subscribes again, and holds what follows.
      if (pending !== null) (pending as (ProcessEvent | AnswerPiece)[]).push(one);
      else if ("signal" in one) deliverEvent(one, false);
      else deliverPiece(one);
    }
  };
  const subscribe = async (): Promise<void> => {
    if (pending !== null || isStopped) return;
    pending = [];
    try {
      const answer = await client.call("proc.subscribe", { ...(pid === null ? {} : { pid }), ...(last === null ? {} : { after: last }) });
      if (isStopped) return;
      pid = answer.pid;
      if (answer.isWhole) for (const one of answer.events as ProcessEvent[]) deliverEvent(one, true);
      else options.onGap?.(answer.seq);
      last = Math.max(last ?? 0, answer.seq);
      live = answer.live;
      options.onLiveAnswer?.(answer.live, answer.seq);
      resolveBegun({ pid: answer.pid, seq: answer.seq });
      deliverPending(answer.seq);
    } catch (error) {
      pending = null;
      if (isStopped) return;
      rejectBegun(error as Error);
      options.onError?.(error as Error);
    }
  };

  const stopListening = client.onSignal(({ signal, payload, seq }) => {
    if (pid === null || !("pid" in payload) || payload.pid !== pid) return;
    if (signal === RUN_STREAM) {
      if (pending === null) deliverPiece(payload);
      else pending.push(payload);
    } else if (seq !== undefined) {
      const one = { seq, signal, payload } as ProcessEvent;
      if (pending === null) deliverEvent(one, false);
      else pending.push(one);
    }
  });
  const stopReconnect = client.onReconnect(() => {
    // A pending subscription was sent on the lost connection.
    pending = null;
    void subscribe();
  });
  void subscribe();
  return {
    get seq() {
      return last;
    },
    begun,
    stop() {
      if (isStopped) return;
      isStopped = true;
      stopListening();
      stopReconnect();
      if (pid !== null) client.call("proc.unsubscribe", { pid }).catch(() => {});
    },
  };
}
