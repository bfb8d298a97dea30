// Requests to devices and their outcomes: each request reaches at most one device, the named one, at most once; the answer is
// what that device sent; a call with a key is carried out once, and one without at most once.

import { tokenOf } from "./device.ts";
import type { Answer, Data } from "./requests.ts";

type Call = { uid: number; target: string; isKeyed: boolean; askings: number; sendings: number; done: number; isRead: boolean };

export class Routed {
  readonly #report: (what: string) => void;
  readonly #calls = new Map<string, Call>();
  /** Sessions that somebody was told about, with the time: they must be in the rows. */
  readonly #sessions = new Map<string, number>();

  constructor(report: (what: string) => void) {
    this.#report = report;
  }

  static isRouted(args: Data): boolean {
    return typeof args.target === "string" && args.target !== "gsv";
  }

  asked(uid: number, call: string, args: Data, key: string | undefined): void {
    const token = tokenOf(args);
    const isRead = call === "fs.read";
    const known = this.#calls.get(token) ?? {
      uid,
      target: String(args.target),
      isKeyed: key !== undefined,
      askings: 0,
      sendings: 0,
      done: 0,
      isRead,
    };
    known.askings++;
    this.#calls.set(token, known);
  }

  /** The kernel forwards the request to the driver on this socket. */
  sent(frame: Data, deviceId: string | null, socketId: string): void {
    const args = frame.args as Data;
    const token = tokenOf(args);
    const call = this.#calls.get(token);
    if (call === undefined) return this.#report(`${socketId} was asked ${token}, which nobody asked`);
    call.sendings++;
    if (call.target !== deviceId) this.#report(`${token} was asked of ${deviceId} (${socketId}) instead of ${call.target}`);
    if (call.sendings > call.askings) this.#report(`${token} was asked ${call.askings} times and sent ${call.sendings} times`);
    if ("target" in args) this.#report(`${token} was sent on with its target`);
    if (call.isKeyed !== "key" in frame && !call.isRead) this.#report(`${token} was sent on ${"key" in frame ? "with" : "without"} a key`);
  }

  /** Whether every request of this call was forwarded: then each must be answered, whatever happens to the disk. */
  wasSent(args: Data): boolean {
    const call = this.#calls.get(tokenOf(args));
    return call !== undefined && call.sendings === call.askings;
  }

  did(token: string): void {
    const call = this.#calls.get(token);
    if (call === undefined) return;
    call.done++;
    if (call.done > (call.isKeyed ? 1 : call.askings)) this.#report(`${token} was carried out ${call.done} times`);
  }

  /** An answer is on the wire. */
  answered(args: Data, answer: Answer, now: number): void {
    const token = tokenOf(args);
    const call = this.#calls.get(token)!;
    if (!answer.ok) {
      if ((answer.code === 507 || answer.code === 500) && call.done > 0 && call.askings === 1)
        this.#report(`${token} was carried out, and it was said that nothing was changed: ${answer.message}`);
      return;
    }
    if (answer.data.by !== token) this.#report(`${token} was answered with ${JSON.stringify(answer.data)}`);
    if (!call.isRead && call.done === 0) this.#report(`${token} was answered and not carried out`);
    if (typeof answer.data.sessionId === "string") this.#sessions.set(answer.data.sessionId, now);
  }

  /** Whether this user may receive signals about this session. */
  mayHear(uid: number | undefined, sessionId: string): boolean {
    return this.#calls.get(sessionId.slice(2))?.uid === uid;
  }

  /** Answers sent at the moment of a lost batch stay, but their sessions are lost with it. */
  rolledBack(now: number): void {
    for (const [sessionId, at] of this.#sessions) if (at === now) this.#sessions.delete(sessionId);
  }

  /** Reported sessions that have no row. */
  missing(known: ReadonlySet<string>, since: number): string[] {
    return [...this.#sessions].filter(([sessionId, at]) => at > since && !known.has(sessionId)).map(([sessionId]) => sessionId);
  }
}
