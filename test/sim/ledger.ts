// What was requested and promised: a register per thing, the first result per key, the issued tokens. It knows nothing about
// sockets; judge.ts reports what crossed the kernel's boundary.

import type { MemorySql } from "../support/memory/sql.ts";
import { actual, tornRows, uidOf } from "./facts.ts";
import { Register, type Write } from "./register.ts";
import { changedNothing, changes, type Data, text } from "./requests.ts";

export type Asked = {
  id: string;
  call: string;
  args: Data;
  key: string | undefined;
  uid: number | null;
  username: string;
  /** By the clock, and in the order of all events. */
  at: number;
  moment: number;
  mayCall: boolean;
  isSync: boolean;
  writes: Write[];
  isSent: boolean;
  hasLeft: boolean;
};

export type Token = { tokenId: string; uid: number; expiresAt: number | null };

type First = { request: string; result: string };

export class Ledger {
  readonly #sql: MemorySql;
  readonly #report: (what: string) => void;
  readonly #registers = new Map<string, Register>();
  readonly #keyed = new Map<string, Asked[]>();
  readonly #first = new Map<string, First>();
  readonly #tokens = new Map<string, Token>();
  #moment = 0;
  replays = 0;

  constructor(sql: MemorySql, report: (what: string) => void) {
    this.#sql = sql;
    this.#report = report;
  }

  /** Advances the logical clock, which orders all events. */
  tick(): number {
    return ++this.#moment;
  }

  /** The issued token with this value, or with this id. */
  token(value: string | undefined, tokenId?: string): Token | undefined {
    if (value !== undefined) return this.#tokens.get(value);
    return [...this.#tokens.values()].find((token) => token.tokenId === tokenId);
  }

  /** A request reached the kernel, from an authenticated caller or for set-up. */
  asked(asked: Asked): void {
    const { call, args, key, uid, username } = asked;
    const slot = key === undefined || uid === null ? null : `${uid} ${key}`;
    // A repeat of a promised request must change nothing, so it is no write.
    if (slot === null || !this.#first.has(slot)) this.#write(asked, changes(call, args, uid === 0, username));
    if (slot !== null) this.#keyed.set(slot, [...(this.#keyed.get(slot) ?? []), asked]);
  }

  /** The kernel has decided; its answer is not on the wire yet. */
  decided(asked: Asked, isOk: boolean): void {
    // A password change takes time, and also ends tokens that were issued meanwhile.
    if (isOk) this.#write(asked, this.#endedTokens(asked.call, asked.args, asked.username));
    for (const write of asked.writes) {
      write.end ??= this.#moment;
      if (!isOk) write.isRefused = true;
    }
  }

  refused(asked: Asked): void {
    for (const write of asked.writes) write.isRefused = true;
  }

  /** The process died during this request: it has taken effect by now or never will. */
  ended(asked: Asked): void {
    for (const write of asked.writes) write.end ??= this.#moment;
  }

  /** The answer is on the wire. */
  promised(asked: Asked, data: Data): void {
    if (asked.call === "sys.token.create") {
      const { token, tokenId, uid, expiresAt } = data.token as Token & { token: string };
      this.#tokens.set(token, { tokenId, uid, expiresAt });
      this.#register(`revoked:${tokenId}`);
    }
    if (changedNothing(data)) return this.refused(asked);
    if (asked.key === undefined || asked.uid === null) return this.#promise(asked.writes);
    // From here it is unknown which of several deliveries took effect, so only the first is promised.
    const slot = `${asked.uid} ${asked.key}`;
    const request = requestText(asked);
    const same = (this.#keyed.get(slot) ?? []).filter((other) => requestText(other) === request);
    this.#promise(same.find((other) => other.writes.some((write) => !write.isRefused))?.writes ?? []);
    const first = this.#first.get(slot);
    const result = JSON.stringify(data);
    if (first === undefined) {
      this.#first.set(slot, { request, result });
      return;
    }
    this.replays++;
    if (first.request !== request) this.#report(`key ${asked.key} was used for ${first.request} and accepted for ${request}`);
    else if (first.result !== result) this.#report(`key ${asked.key} gave ${first.result} and then ${result}`);
  }

  /** Configuration was returned to a request made at `moment`. */
  shown(entries: readonly { key: string; value: string }[], moment: number): void {
    for (const { key, value } of entries) {
      const register = this.#registers.get(`config:${key}`);
      // Defaults that exist only in the code were never written.
      if (register === undefined || !register.values().includes(value)) continue;
      if (!register.admissible(moment).includes(value)) this.#report(`${key} was read as ${value}, which had been replaced`);
      register.observed(value, this.#moment);
    }
  }

  /** A file was returned to a request made at `moment`. */
  shownFile(name: string, value: string, moment: number): void {
    const register = this.#registers.get(name);
    if (register === undefined) return;
    if (!register.admissible(moment).includes(value)) this.#report(`${name} was read as ${value}, which it did not hold`);
    register.observed(value, this.#moment);
  }

  /** Whether this value is consistent with every promise. */
  may(name: string, value: string): boolean {
    const register = this.#registers.get(name);
    return register === undefined || register.admissible().includes(value);
  }

  checkRows(): void {
    for (const [name, register] of this.#registers) {
      const found = actual(this.#sql, name, register.values());
      const wanted = [...new Set(register.admissible())];
      if (!wanted.includes(found)) this.#report(`${name} is ${found}, but was promised to be ${wanted.join(" or ")}`);
    }
    for (const torn of tornRows(this.#sql)) this.#report(`torn: ${torn}`);
  }

  #write(asked: Asked, values: readonly [string, string][]): void {
    const { moment, isSync, writes } = asked;
    for (const [name, value] of values) writes.push(this.#register(name).add(value, moment, isSync ? moment : null));
  }

  #promise(writes: readonly Write[]): void {
    for (const write of writes) write.promisedAt ??= this.#moment;
  }

  /** The tokens that a password change revokes. */
  #endedTokens(call: string, args: Data, username: string): [string, string][] {
    if (call !== "sys.user.password" || args.revokeTokens !== true) return [];
    const uid = uidOf(this.#sql, text(args.username ?? username));
    return [...this.#tokens.values()].filter((token) => token.uid === uid).map(({ tokenId }) => [`revoked:${tokenId}`, "true"]);
  }

  #register(name: string): Register {
    const known = this.#registers.get(name);
    if (known !== undefined) return known;
    const register = new Register(actual(this.#sql, name, []));
    this.#registers.set(name, register);
    return register;
  }
}

function requestText({ call, args }: Asked): string {
  return JSON.stringify([call, args]);
}
