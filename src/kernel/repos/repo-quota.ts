// How much a change or a pack may add to a repository: what is left of its owner's quota, minus what other running changes of the
// same owner may add. The size of a repository is counted only when it answers, so without these claims several concurrent changes
// would each get all that is left.

import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { ROW_BYTES } from "../../lib/row-bytes.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { ApplyOp } from "../../repo/apply.ts";
import { LIMITS } from "../../repo/limits.ts";
import type { Quota } from "../../repo/objects.ts";
import type { ReadContext } from "../context.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";

type Reads = Pick<ReadContext, "accounts" | "quotas" | "repositories">;

/** A running change: how much it adds at most, and a promise that settles when it ends. */
type Claim = { owner: string; bytes: number; isPack: boolean; done: Promise<unknown> };

/** The most that one pack can add, whatever it unpacks to. */
const PACK_ADDS_BYTES = LIMITS.inflatedBytes + LIMITS.packObjects * ROW_BYTES;
/** What most commits add besides content: trees, the commit, first files. A commit that adds more is retried alone. */
const COMMIT_ADDS_BYTES = 256 * 1024;
/** A deletion is a commit too: to delete, a user may exceed the quota by this much in total. */
const DELETING_BYTES = 16 * 1024 * 1024;

export class RepoQuota {
  readonly #reads: Reads;
  readonly #check: (row: RepositoryRow) => Promise<void>;
  readonly #claims = new Set<Claim>();
  /** Per owner, runs changes alone that did not fit beside others. */
  readonly #alone = new KeyedMutex();

  /** `check` asks the repository for its size. */
  constructor(reads: Reads, check: (row: RepositoryRow) => Promise<void>) {
    this.#reads = reads;
    this.#check = check;
  }

  /**
   * Runs `body`, which applies `ops`, with the size that the repository may grow to; null for no limit. `body` must have counted what it
   * added when it resolves. If it does not fit beside other changes, it runs again after them, so that no change is refused because of
   * room that was claimed but not used. Running it twice is safe because a change that is refused with 507 leaves nothing behind.
   */
  async runWithinQuota<T>(row: RepositoryRow, ops: readonly ApplyOp[], body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#ensureMeasured(row);
    const more = isDeletion(ops) ? DELETING_BYTES : 0;
    const { work, hasAllRoom } = this.#runWithClaim(row, more, addedBytes(ops), false, body);
    if (hasAllRoom) return this.#remeasureIfFull(row, work);
    return work.catch((error: unknown) => {
      if (!isQuotaError(error)) throw error;
      return this.#alone.run(row.owner, async () => {
        for (let changes = this.#runningChangesOf(row.owner); changes.length > 0; changes = this.#runningChangesOf(row.owner))
          await Promise.allSettled(changes.map(({ done }) => done));
        return this.#remeasureIfFull(row, this.#runWithClaim(row, more, Infinity, false, body).work);
      });
    });
  }

  /** The same for a pack, whose size is not known beforehand. It may take long, so no change waits for it. */
  async runPackWithinQuota<T>(row: RepositoryRow, body: (quota: Quota | null) => Promise<T>): Promise<T> {
    await this.#ensureMeasured(row);
    return this.#remeasureIfFull(row, this.#runWithClaim(row, 0, PACK_ADDS_BYTES, true, body).work);
  }

  /** Runs `body` with a claim on the quota. `hasAllRoom`: running alone would not give it more room. */
  #runWithClaim<T>(
    row: RepositoryRow,
    more: number,
    adds: number,
    isPack: boolean,
    body: (quota: Quota | null) => Promise<T>,
  ): { work: Promise<T>; hasAllRoom: boolean } {
    const { owner } = row;
    const claimedBytes = [...this.#claims].filter((claim) => claim.owner === owner).reduce((sum, { bytes }) => sum + bytes, 0);
    const left = this.#remainingQuotaOf(row, more - claimedBytes);
    if (left === null) return { work: body(null), hasAllRoom: true };
    const bytes = Math.min(adds, left.bytes);
    const work = body({ bytes: (this.#rereadRow(row).bytes ?? 0) + bytes, says: left.says });
    const claim = { owner, bytes, isPack, done: work };
    this.#claims.add(claim);
    return { work: work.finally(() => this.#claims.delete(claim)), hasAllRoom: claimedBytes === 0 && adds >= left.bytes };
  }

  #runningChangesOf(owner: string): Claim[] {
    return [...this.#claims].filter((claim) => claim.owner === owner && !claim.isPack);
  }

  /** Null for no limit. `more` is added to the owner's quota, and may be negative. */
  #remainingQuotaOf(row: RepositoryRow, more: number): Quota | null {
    const { accounts, quotas } = this.#reads;
    const uid = accounts.findByName(row.owner)?.uid;
    const bytes = uid === undefined ? Infinity : quotas.remainingBytesOf(uid, more);
    return uid === undefined || bytes === Infinity ? null : { bytes, says: quotas.describeExcess(uid) };
  }

  async #ensureMeasured(row: RepositoryRow): Promise<void> {
    if (this.#rereadRow(row).bytes === null && this.#remainingQuotaOf(row, 0) !== null) await this.#check(row);
  }

  /** The copy of the size may be stale, so a refusal refreshes it: a retry is then judged by the real size. */
  #remeasureIfFull<T>(row: RepositoryRow, work: Promise<T>): Promise<T> {
    return work.catch(async (error: unknown) => {
      if (isQuotaError(error)) await this.#check(row);
      throw error;
    });
  }

  #rereadRow(row: RepositoryRow): RepositoryRow {
    return this.#reads.repositories.get(row.repo) ?? row;
  }
}

function isQuotaError(error: unknown): boolean {
  return error instanceof SysError && error.code === 507;
}

/** Empty files alone delete nothing; beside a deletion they keep a directory whose last file is deleted. */
function isDeletion(ops: readonly ApplyOp[]): boolean {
  return ops.some(({ type }) => type === "delete") && ops.every((op) => op.type === "delete" || (op.type === "put" && sizeOf(op) === 0));
}

function addedBytes(ops: readonly ApplyOp[]): number {
  return ops.reduce((sum, op) => sum + sizeOf(op) + ROW_BYTES, COMMIT_ADDS_BYTES);
}

/** An upper bound in bytes: a character of text takes up to three. */
function sizeOf(op: ApplyOp): number {
  if (op.type !== "put") return 0;
  return op.bytes?.length ?? op.contentBase64?.length ?? 3 * (op.content?.length ?? 0);
}
