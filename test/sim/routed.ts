// What was asked of devices and what became of it: each asking reaches at most one device, the one that was named, at
// most once; each is answered by what that device said; what has a key is done once, and what has none at most once.

import { tokenOf } from "./device.ts";
import type { Answer, Data } from "./requests.ts";

type Call = { uid: number; target: string; isKeyed: boolean; askings: number; sendings: number; done: number; isRead: boolean };

export class Routed {
  readonly #broken: (what: string) => void;
  readonly #calls = new Map<string, Call>();
  /** Sessions somebody was told of, with the moment: they must be in the rows. */
  readonly #sessions = new Map<string, number>();

  constructor(broken: (what: string) => void) {
    this.#broken = broken;
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

  /** The kernel sends it to the driver on this line. */
  sent(frame: Data, deviceId: string | null, socketId: string): void {
    const args = frame.args as Data;
    const token = tokenOf(args);
    const call = this.#calls.get(token);
    if (call === undefined) return this.#broken(`${socketId} was asked ${token}, which nobody asked`);
    call.sendings++;
    if (call.target !== deviceId) this.#broken(`${token} was asked of ${deviceId} (${socketId}) instead of ${call.target}`);
    if (call.sendings > call.askings) this.#broken(`${token} was asked ${call.askings} times and sent ${call.sendings} times`);
    if ("target" in args) this.#broken(`${token} was sent on with its target`);
    if (call.isKeyed !== "key" in frame && !call.isRead) this.#broken(`${token} was sent on ${"key" in frame ? "with" : "without"} a key`);
  }

  /** Whether all askings of this were sent on: then each of them must be answered, whatever happens to the disk. */
  wasSent(args: Data): boolean {
    const call = this.#calls.get(tokenOf(args));
    return call !== undefined && call.sendings === call.askings;
  }

  did(token: string): void {
    const call = this.#calls.get(token);
    if (call === undefined) return;
    call.done++;
    if (call.done > (call.isKeyed ? 1 : call.askings)) this.#broken(`${token} was carried out ${call.done} times`);
  }

  /** An answer is on the wire. */
  answered(args: Data, answer: Answer, now: number): void {
    const token = tokenOf(args);
    const call = this.#calls.get(token)!;
    if (!answer.ok) {
      if ((answer.code === 507 || answer.code === 500) && call.done > 0 && call.askings === 1)
        this.#broken(`${token} was carried out, and it was said that nothing was changed: ${answer.message}`);
      return;
    }
    if (answer.data.by !== token) this.#broken(`${token} was answered with ${JSON.stringify(answer.data)}`);
    if (!call.isRead && call.done === 0) this.#broken(`${token} was answered and not carried out`);
    if (typeof answer.data.sessionId === "string") this.#sessions.set(answer.data.sessionId, now);
  }

  /** Whether this user may hear of this session. */
  mayHear(uid: number | undefined, sessionId: string): boolean {
    return this.#calls.get(sessionId.slice(2))?.uid === uid;
  }

  /** Of a batch that was lost, answers that stay have left a moment ago, and their sessions are lost with it. */
  rolledBack(now: number): void {
    for (const [sessionId, at] of this.#sessions) if (at === now) this.#sessions.delete(sessionId);
  }

  /** Sessions that were told of and are not known. */
  missing(known: ReadonlySet<string>, since: number): string[] {
    return [...this.#sessions].filter(([sessionId, at]) => at > since && !known.has(sessionId)).map(([sessionId]) => sessionId);
  }
}
