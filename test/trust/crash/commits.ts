// Commits made through repo.apply: each lane writes one repository. After a crash every acknowledged commit is in its history,
// once and under the acknowledged hash; a commit whose request was cut is there once or not at all.

import { CallError } from "../../../src/client/client.ts";
import type { Lane } from "./lane.ts";
import type { Oracle } from "./oracle.ts";

const ANSWER = { timeoutMs: 30_000 };
const PAGE = 100;

export class Commits {
  readonly repo: string;
  /** By stamp; the hash if it was acknowledged. */
  readonly #sent = new Map<number, string | null>();
  /** Stamps found in the history so far; older history is not read again. */
  readonly #found = new Map<number, string>();
  #checked: string | null = null;

  constructor(repo: string) {
    this.repo = repo;
  }

  /** Whether any commit was acknowledged. */
  get hasAny(): boolean {
    return [...this.#sent.values()].some((head) => head !== null);
  }

  send(stamp: number): void {
    if (!this.#sent.has(stamp)) this.#sent.set(stamp, null);
  }

  /** The gateway reported that nothing was kept. */
  undo(stamp: number): void {
    this.#sent.delete(stamp);
  }

  ack(stamp: number, head: string): void {
    this.#sent.set(stamp, head);
  }

  static args(repo: string, stamp: number): Record<string, unknown> {
    return { repo, message: `commit ${stamp}`, ops: [{ type: "put", path: pathOf(stamp), content: `${stamp}\n` }] };
  }

  /** Call it only while no request is in progress. */
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
    const read = await lane.line!.call("repo.read", { repo: this.repo, ref: newest.hash, path: pathOf(stamp) }, ANSWER);
    if (read.kind !== "file" || read.content !== `${stamp}\n`)
      oracle.violate("half", `${this.repo}: commit ${stamp} holds ${JSON.stringify(read)}`);
  }

  /** The commits since the last check, newest first. */
  async #history(lane: Lane): Promise<{ hash: string; message: string }[]> {
    const all: { hash: string; message: string }[] = [];
    for (;;) {
      const entries = await lane.line!.call("repo.log", { repo: this.repo, limit: PAGE, offset: all.length }, ANSWER).then(
        (page) => page.entries,
        (error: unknown) => {
          // Neither the repository nor a commit exists yet.
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

function pathOf(stamp: number): string {
  return `d${stamp % 5}/f${stamp % 7}`;
}
