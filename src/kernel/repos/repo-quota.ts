// How much a change or a pack may add to a repository: what is left of its owner's quota, less what others of the same owner that
// are under way may add. What a repository holds is counted when it answers, so without that several at once would each get all
// that is left.

import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { ROW_BYTES } from "../../lib/row-bytes.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { ApplyOp } from "../../repo/apply.ts";
import { LIMITS } from "../../repo/limits.ts";
import type { Quota } from "../../repo/objects.ts";
import type { ReadContext } from "../context.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";

type Reads = Pick<ReadContext, "accounts" | "quotas" | "repositories">;

/** What is under way: the most that it adds, and when it is over. */
type Claim = { owner: string; bytes: number; isPack: boolean; over: Promise<unknown> };

/** The most that one pack adds, whatever it unpacks to. */
const PACK_ADDS_BYTES = LIMITS.inflatedBytes + LIMITS.packObjects * ROW_BYTES;
/** What most commits add beside content: trees, the commit, first files. One that adds more is tried again alone. */
const COMMIT_ADDS_BYTES = 256 * 1024;
/** Deleting is a commit too: whoever has used up their quota may go beyond it by so much, in all, to delete. */
const DELETING_BYTES = 16 * 1024 * 1024;

export class RepoQuota {
  readonly #reads: Reads;
  readonly #check: (row: RepositoryRow) => Promise<void>;
  readonly #claims = new Set<Claim>();
  /** Of each owner, those that did not fit beside others. */
  readonly #alone = new KeyedMutex();

  /** `check` asks the repository how much it holds. */
  constructor(reads: Reads, check: (row: RepositoryRow) => Promise<void>) {
    this.#reads = reads;
    this.#check = check;
  }

  /**
   * Runs `body`, which adds what `ops` say, with as much as the repository may hold; null for no limit. It must have counted what
   * was added when it ends. Where it does not fit beside others it runs again after them, so that nobody is refused for room that
   * nobody uses: what is refused with 507 has left nothing.
   */
  async within<T>(row: RepositoryRow, ops: readonly ApplyOp[], body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#measured(row);
    const more = isDeletion(ops) ? DELETING_BYTES : 0;
    const claimed = this.#claimed(row, more, addedBy(ops), false, body);
    if (claimed.isAll) return this.#orMeasured(row, claimed.work);
    return claimed.work.catch((error: unknown) => {
      if (!isFull(error)) throw error;
      return this.#alone.run(row.owner, async () => {
        for (let changes = this.#changesOf(row.owner); changes.length > 0; changes = this.#changesOf(row.owner))
          await Promise.allSettled(changes.map(({ over }) => over));
        return this.#orMeasured(row, this.#claimed(row, more, Infinity, false, body).work);
      });
    });
  }

  /** The same for a pack, of which nobody knows beforehand what it adds. It may take long, so nobody waits for it. */
  async arrives<T>(row: RepositoryRow, body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#measured(row);
    return this.#orMeasured(row, this.#claimed(row, 0, PACK_ADDS_BYTES, true, body).work);
  }

  /** `isAll`: it could not get more if it were alone. */
  #claimed<T>(
    row: RepositoryRow,
    more: number,
    adds: number,
    isPack: boolean,
    body: (quota: Quota | null) => Promise<T>,
  ): { work: Promise<T>; isAll: boolean } {
    const { owner } = row;
    const others = [...this.#claims].filter((claim) => claim.owner === owner).reduce((sum, { bytes }) => sum + bytes, 0);
    const left = this.#leftOf(row, more - others);
    if (left === null) return { work: body(null), isAll: true };
    const bytes = Math.min(adds, left.bytes);
    const work = body({ bytes: (this.#present(row).bytes ?? 0) + bytes, says: left.says });
    const claim = { owner, bytes, isPack, over: work };
    this.#claims.add(claim);
    return { work: work.finally(() => this.#claims.delete(claim)), isAll: others === 0 && adds >= left.bytes };
  }

  #changesOf(owner: string): Claim[] {
    return [...this.#claims].filter((claim) => claim.owner === owner && !claim.isPack);
  }

  /** Null for no limit. `more` is what its owner may hold beyond their quota, or less than that. */
  #leftOf(row: RepositoryRow, more: number): Quota | null {
    const { accounts, quotas } = this.#reads;
    const uid = accounts.byName(row.owner)?.uid;
    const bytes = uid === undefined ? Infinity : quotas.leftOf(uid, more);
    return uid === undefined || bytes === Infinity ? null : { bytes, says: quotas.refusal(uid) };
  }

  async #measured(row: RepositoryRow): Promise<void> {
    if (this.#present(row).bytes === null && this.#leftOf(row, 0) !== null) await this.#check(row);
  }

  /** The copy of how much it holds may be too old: it is asked before anybody is refused a second time. */
  #orMeasured<T>(row: RepositoryRow, work: Promise<T>): Promise<T> {
    return work.catch(async (error: unknown) => {
      if (isFull(error)) await this.#check(row);
      throw error;
    });
  }

  #present(row: RepositoryRow): RepositoryRow {
    return this.#reads.repositories.get(row.repo) ?? row;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof SysError && error.code === 507;
}

/** Empty files alone delete nothing; beside a deletion they keep the directory whose last file goes. */
function isDeletion(ops: readonly ApplyOp[]): boolean {
  return ops.some(({ type }) => type === "delete") && ops.every((op) => op.type === "delete" || (op.type === "put" && sizeOf(op) === 0));
}

function addedBy(ops: readonly ApplyOp[]): number {
  return ops.reduce((sum, op) => sum + sizeOf(op) + ROW_BYTES, COMMIT_ADDS_BYTES);
}

/** At most so many bytes: a character of text takes up to three. */
function sizeOf(op: ApplyOp): number {
  if (op.type !== "put") return 0;
  return op.bytes?.length ?? op.contentBase64?.length ?? 3 * (op.content?.length ?? 0);
}
