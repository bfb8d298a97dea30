// Which connections receive the events of a process. Followers receive all of them, numbered. So does the connection that started the
// run; if that is closed or unknown, every connection of the owner.

import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";
import type { Shares } from "../fairness/shares.ts";
import { encodeSignalFrame } from "../../protocol/frames.ts";
import { RUN_STREAM } from "../../protocol/signal-names.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { addPiece } from "./pieces.ts";

/** Rough time to send a signal to one of many connections; the host spends most of it later. */
const SEND_MS = 0.02;
const CHAR_MS = 1e-6;
/** Sending a long answer to hundreds of followers at once would delay everybody: beyond this it goes to a few of them at a time. */
const BURST_CHARS = 512 * 1024;

type ProcessRef = Pick<ProcessRow, "pid" | "uid">;

export class ProcessSignals {
  readonly #store: Store;
  readonly #shares: Shares;
  /** Pieces that wait until the owner's share allows sending, by process. */
  readonly #pieces = new Map<string, AnswerPiece[]>();
  /** Signals that wait until earlier ones have been sent to all recipients, by process. */
  readonly #outboxes = new Map<string, { text: string; to: string[] }[]>();
  /** How many connections are starting to follow a process, by process. */
  readonly #pendingFollows = new Map<string, number>();

  constructor(store: Store, shares: Shares) {
    this.#store = store;
    this.#shares = shares;
  }

  /** Sends a piece of a live answer: at once, or merged with others when the owner's share allows. */
  stream(process: ProcessRef, piece: AnswerPiece): void {
    const { pid, uid } = process;
    const waiting = this.#pieces.get(pid);
    if (waiting !== undefined) return addPiece(waiting, piece);
    const send = () => this.#sendPiece(process, piece);
    if (this.#pendingFollows.has(pid)) return send();
    if (this.#shares.tryRun(uid, send)) return;
    this.#pieces.set(pid, [piece]);
    this.#shares.queue(uid, () => this.#flush(process));
  }

  /**
   * While a connection starts to follow, pieces are sent one by one: its answer says up to which number it has the live answer, and a
   * merged piece could overlap that.
   */
  async withSinglePieces<T>(process: ProcessRef, work: () => Promise<T>): Promise<T> {
    const { pid } = process;
    this.#flush(process);
    this.#pendingFollows.set(pid, (this.#pendingFollows.get(pid) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const remaining = this.#pendingFollows.get(pid)! - 1;
      if (remaining === 0) this.#pendingFollows.delete(pid);
      else this.#pendingFollows.set(pid, remaining);
    }
  }

  /** Sends an event, after the pieces that still wait. */
  send(process: ProcessRef, { signal, payload, seq }: ProcessEvent): void {
    this.#flush(process);
    this.#send(process, payload.runId ?? null, () => encodeSignalFrame(signal, payload, seq));
  }

  #flush(process: ProcessRef): void {
    const waiting = this.#pieces.get(process.pid);
    this.#pieces.delete(process.pid);
    for (const piece of waiting ?? []) this.#sendPiece(process, piece);
  }

  #sendPiece(process: ProcessRef, piece: AnswerPiece): void {
    this.#send(process, piece.runId, () => encodeSignalFrame(RUN_STREAM, piece));
  }

  #send({ pid, uid }: ProcessRef, runId: string | null, frame: () => string): void {
    const to = this.#recipients(pid, uid, runId);
    if (to.size === 0) return;
    const text = frame();
    const box = this.#outboxes.get(pid);
    if (box !== undefined) return void box.push({ text, to: [...to] });
    if (to.size * text.length <= BURST_CHARS) return this.#post(uid, text, [...to]);
    this.#outboxes.set(pid, [{ text, to: [...to] }]);
    this.#shares.queue(uid, () => this.#postNext(pid, uid));
  }

  /** Sends the first signal of the outbox to some recipients, and queues the rest in the owner's share. */
  #postNext(pid: string, uid: number): void {
    const box = this.#outboxes.get(pid)!;
    const { text, to } = box[0]!;
    this.#post(uid, text, to.splice(0, Math.max(1, Math.floor(BURST_CHARS / text.length))));
    if (to.length === 0) box.shift();
    if (box.length === 0) this.#outboxes.delete(pid);
    else this.#shares.queue(uid, () => this.#postNext(pid, uid));
  }

  #post(uid: number, text: string, to: readonly string[]): void {
    for (const connectionId of to) this.#store.ports.sockets.send(connectionId, text);
    this.#shares.charge(uid, to.length * (SEND_MS + text.length * CHAR_MS));
  }

  #recipients(pid: string, uid: number, runId: string | null): Set<string> {
    const { followers, connections, now } = this.#store.reads;
    const to = new Set(followers.listByProcess(pid));
    const route = runId === null ? undefined : followers.routeOf(pid, runId, now);
    if (route !== undefined && route.uid !== uid && route.uid !== 0) {
      this.#store.relaxed(({ followers }) => followers.removeRoute(pid, runId!));
      return to;
    }
    if (route !== undefined && connections.caller(route.connectionId) !== undefined) return to.add(route.connectionId);
    for (const connectionId of connections.idsOfUser(uid, "user")) to.add(connectionId);
    return to;
  }
}
