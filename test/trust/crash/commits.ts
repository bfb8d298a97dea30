// Commits made through repo.apply: each lane writes one repository. After a crash every acknowledged commit is in its
// history, once and under the hash that was acknowledged; what was cut is there once or not at all.

import { CallError } from "../../../src/client/client.ts";
import type { Lane } from "./lane.ts";
import type { Oracle } from "./oracle.ts";

const ANSWER = { timeoutMs: 30_000 };
const PAGE = 100;

export class Commits {
  readonly repo: string;
  /** By stamp; the hash where it was acknowledged. */
  readonly #sent = new Map<number, string | null>();
  /** Stamps that were found in the history, which is never looked at further back than this. */
  readonly #found = new Map<number, string>();
  #checked: string | null = null;

  constructor(repo: string) {
    this.repo = repo;
  }

  /** Whether one was acknowledged. */
  get hasAny(): boolean {
    return [...this.#sent.values()].some((head) => head !== null);
  }

  send(stamp: number): void {
    if (!this.#sent.has(stamp)) this.#sent.set(stamp, null);
  }

  /** The gateway said that nothing was kept. */
  undo(stamp: number): void {
    this.#sent.delete(stamp);
  }

  ack(stamp: number, head: string): void {
    this.#sent.set(stamp, head);
  }

  static args(repo: string, stamp: number): Record<string, unknown> {
    return { repo, message: `commit ${stamp}`, ops: [{ type: "put", path: placeOf(stamp), content: `${stamp}\n` }] };
  }

  /** Nothing is under way. */
  async judge(lane: Lane, oracle: Oracle): Promise<void> {
    const fresh = await this.#history(lane);
    for (const { hash, message } of fresh.toReversed()) {
      const stamp = Number(/^commit (\d+)$/.exec(message)?.[1]);
      if (message === `repo: create ${this.repo}`) continue;
      if (!this.#sent.has(stamp)) oracle.violate("wrong", `${this.repo}: nobody made ${hash}: ${message}`);
      if (this.#found.has(stamp)) oracle.violate("doubled", `${this.repo}: commit ${stamp} is there twice`);
      this.#found.set(stamp, hash);
    }
    for (const [stamp, head] of this.#sent) {
      const found = this.#found.get(stamp);
      if (head !== null && head !== found) oracle.violate("lost", `${this.repo}: commit ${stamp} was ${head}, is ${found}`);
    }
    this.#checked = fresh[0]?.hash ?? this.#checked;
    const newest = fresh.find(({ message }) => message.startsWith("commit "));
    if (newest === undefined) return;
    const stamp = Number(newest.message.slice("commit ".length));
    const read = await lane.line!.call("repo.read", { repo: this.repo, ref: newest.hash, path: placeOf(stamp) }, ANSWER);
    if (read.kind !== "file" || read.content !== `${stamp}\n`)
      oracle.violate("half", `${this.repo}: commit ${stamp} holds ${JSON.stringify(read)}`);
  }

  /** What came since the last look, newest first. */
  async #history(lane: Lane): Promise<{ hash: string; message: string }[]> {
    const all: { hash: string; message: string }[] = [];
    for (;;) {
      const entries = await lane.line!.call("repo.log", { repo: this.repo, limit: PAGE, offset: all.length }, ANSWER).then(
        (page) => page.entries,
        (error: unknown) => {
          // Neither the repository nor a commit in it.
          if (error instanceof CallError && error.code === 404) return [];
          throw error;
        },
      );
      const end = entries.findIndex(({ hash }) => hash === this.#checked);
      all.push(...(end < 0 ? entries : entries.slice(0, end)));
      if (end >= 0 || entries.length < PAGE) return all;
    }
  }
}

function placeOf(stamp: number): string {
  return `d${stamp % 5}/f${stamp % 7}`;
}
