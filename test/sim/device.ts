// How a simulated device handles a request: it answers at once, late, twice or never, disconnects in the middle, and forges
// answers. It keeps a ledger like the daemon, and reports what it really did.

import type { Random } from "../support/memory/random.ts";
import type { Data } from "./requests.ts";

export type Order = { id: string; call: string; args: Data; key?: string };

/** The device's end of its connection. */
export type Wire = { socketId: string; send(frame: Data): void; later(ms: number, run: () => void): void; hangUp(): void };

type Answer = { ok: true; data: Data } | { ok: false; error: { code: number; message: string } };

export class SimDevice {
  readonly #random: Random;
  readonly #did: (token: string) => void;
  /** Outlives every socket of the device. */
  readonly #ledger = new Map<string, Data>();
  readonly #received: string[] = [];
  readonly #answered: string[] = [];

  /** `did` is called for everything that the device carries out. */
  constructor(random: Random, did: (token: string) => void) {
    this.#random = random;
    this.#did = did;
  }

  asked(order: Order, wire: Wire): void {
    const dice = this.#random.unit();
    this.#received.push(order.id);
    if (dice < 0.05) return;
    if (dice < 0.1) return wire.hangUp();
    const answer = this.#carryOut(order);
    // Done, but the answer is lost.
    if (dice < 0.2) return wire.hangUp();
    const send = () => {
      this.#answered.push(order.id);
      wire.send({ type: "res", id: order.id, ...answer });
    };
    if (dice < 0.3) return wire.later(this.#random.between(100, 90_000), send);
    send();
    if (dice < 0.5) send();
    const sessionId = answer.ok ? answer.data.sessionId : undefined;
    if (typeof sessionId === "string") wire.later(this.#random.between(0, 20_000), () => this.#sendStatus(wire, sessionId));
  }

  /** Frames that no honest device sends: answers that were sent before or that others owe, and the status of foreign sessions. */
  lie(wire: Wire, others: readonly string[]): void {
    for (const id of [...this.#answered.slice(-3), ...others]) wire.send({ type: "res", id, ok: true, data: { ok: true, by: "a liar" } });
    this.#sendStatus(wire, `s-${this.#random.between(1, 500)}`);
  }

  /** Ids that other devices could try to answer. */
  get recent(): readonly string[] {
    return this.#received.slice(-3);
  }

  #carryOut({ call, args, key }: Order): Answer {
    const token = tokenOf(args);
    const known = key === undefined ? undefined : this.#ledger.get(key);
    if (known !== undefined && known.by !== token)
      return { ok: false, error: { code: 409, message: "This key was used for another request" } };
    if (known !== undefined) return { ok: true, data: known };
    if (call !== "fs.read") this.#did(token);
    const data: Data =
      call === "shell.exec" ? { status: "running", sessionId: `s-${token}`, output: "", by: token } : { ok: true, by: token };
    if (key !== undefined) this.#ledger.set(key, data);
    return { ok: true, data };
  }

  #sendStatus(wire: Wire, sessionId: string): void {
    const payload = { eventId: `e${this.#random.between(1, 1e9)}`, sessionId, event: this.#random.pick(["started", "finished", "failed"]) };
    wire.send({ type: "sig", signal: "exec.status", payload });
  }
}

/** The token by which the judge recognizes a call wherever it appears. */
export function tokenOf(args: Data): string {
  return text(args.path ?? args.input);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
