// Who hears of what a process does. Those who follow it hear everything, numbered; so does the connection a run was started
// from, and where that is gone or there is none, every connection of the owner.

import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";
import type { Shares } from "../fairness/shares.ts";
import { signalFrame } from "../../protocol/frames.ts";
import { RUN_STREAM } from "../../protocol/signal-names.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { addPiece } from "./pieces.ts";

/** About what it takes to send something to one of many, most of which is done by the host later on. */
const SEND_MS = 0.02;
const CHAR_MS = 1e-6;
/** The whole of a long answer to hundreds of followers is more than anybody should wait for: it goes to a few of them at a time. */
const AT_ONCE_CHARS = 512 * 1024;

type Whose = Pick<ProcessRow, "pid" | "uid">;

export class ProcessSignals {
  readonly #store: Store;
  readonly #shares: Shares;
  /** Pieces that wait for the owner's turn, by process. */
  readonly #pieces = new Map<string, AnswerPiece[]>();
  /** What has to wait until what was told before has gone to all, by process. */
  readonly #outboxes = new Map<string, { text: string; to: string[] }[]>();
  /** Processes that somebody is just beginning to follow. */
  readonly #beginning = new Map<string, number>();

  constructor(store: Store, shares: Shares) {
    this.#store = store;
    this.#shares = shares;
  }

  /** A piece of an answer: at once, or in the owner's turn together with others. */
  stream(process: Whose, piece: AnswerPiece): void {
    const { pid, uid } = process;
    const waiting = this.#pieces.get(pid);
    if (waiting !== undefined) return addPiece(waiting, piece);
    const send = () => this.#sendPiece(process, piece);
    if (this.#beginning.has(pid)) return send();
    if (this.#shares.attempt(uid, send)) return;
    this.#pieces.set(pid, [piece]);
    this.#shares.queue(uid, () => this.#flush(process));
  }

  /**
   * While somebody begins to follow, pieces go one by one: they are told up to which number they have the answer already, and of
   * several in one, part of it would be there twice.
   */
  async whileBeginning<T>(process: Whose, work: () => Promise<T>): Promise<T> {
    const { pid } = process;
    this.#flush(process);
    this.#beginning.set(pid, (this.#beginning.get(pid) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = this.#beginning.get(pid)! - 1;
      if (left === 0) this.#beginning.delete(pid);
      else this.#beginning.set(pid, left);
    }
  }

  /** What came before it is told before it. */
  send(process: Whose, { signal, payload, seq }: ProcessEvent): void {
    this.#flush(process);
    this.#send(process, payload.runId ?? null, () => signalFrame(signal, payload, seq));
  }

  #flush(process: Whose): void {
    const waiting = this.#pieces.get(process.pid);
    this.#pieces.delete(process.pid);
    for (const piece of waiting ?? []) this.#sendPiece(process, piece);
  }

  #sendPiece(process: Whose, piece: AnswerPiece): void {
    this.#send(process, piece.runId, () => signalFrame(RUN_STREAM, piece));
  }

  #send({ pid, uid }: Whose, runId: string | null, frame: () => string): void {
    const to = this.#recipients(pid, uid, runId);
    if (to.size === 0) return;
    const text = frame();
    const box = this.#outboxes.get(pid);
    if (box !== undefined) return void box.push({ text, to: [...to] });
    if (to.size * text.length <= AT_ONCE_CHARS) return this.#post(uid, text, [...to]);
    this.#outboxes.set(pid, [{ text, to: [...to] }]);
    this.#shares.queue(uid, () => this.#postNext(pid, uid));
  }

  /** Some of those who are to hear it, and the rest in the owner's next turn. */
  #postNext(pid: string, uid: number): void {
    const box = this.#outboxes.get(pid)!;
    const { text, to } = box[0]!;
    this.#post(uid, text, to.splice(0, Math.max(1, Math.floor(AT_ONCE_CHARS / text.length))));
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
    const to = new Set(followers.of(pid));
    const route = runId === null ? undefined : followers.routeOf(pid, runId, now);
    if (route !== undefined && route.uid !== uid && route.uid !== 0) {
      this.#store.relaxed(({ followers }) => followers.runEnded(pid, runId!));
      return to;
    }
    if (route !== undefined && connections.caller(route.connectionId) !== undefined) return to.add(route.connectionId);
    for (const connectionId of connections.ofUser(uid, "user")) to.add(connectionId);
    return to;
  }
}
