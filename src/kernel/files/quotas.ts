// How much each user may store: what root set for that user, else what root set for all, else the smaller of 10 GiB and half the
// disk. Root has no quota. A user over quota can still read and delete.

import { formatByteSize } from "../../lib/byte-size.ts";
import { makeWholeNumberParser } from "../agents/read-setting.ts";
import type { AccountReads } from "../nouns/accounts.ts";
import type { ConfigReads } from "../nouns/config.ts";
import type { UsageReads } from "../nouns/usage.ts";

export const QUOTA_KEY = "config/files/quota_bytes";
/** Followed by a uid. Not below users/, where users write their own settings. */
export const USER_QUOTAS_KEY = "config/files/user_quota_bytes";
const UNLIMITED = "unlimited";
const FORM = `a whole number of bytes or "${UNLIMITED}"`;

const GIB = 1024 ** 3;
const DEFAULT_BYTES = 10 * GIB;

const parseBytes = makeWholeNumberParser(0, Number.MAX_SAFE_INTEGER);

export type Quota = { uid: number; username: string; usedBytes: number; limitBytes: number };

export class Quotas {
  readonly #config: Pick<ConfigReads, "get">;
  readonly #accounts: Pick<AccountReads, "findByUid" | "list">;
  readonly #usage: UsageReads;
  readonly #storageBytes: number | null;

  /** `storageBytes` is the size of the disk that everything is stored on; null if unknown. */
  constructor(
    config: Pick<ConfigReads, "get">,
    accounts: Pick<AccountReads, "findByUid" | "list">,
    usage: UsageReads,
    storageBytes: number | null,
  ) {
    this.#config = config;
    this.#accounts = accounts;
    this.#usage = usage;
    this.#storageBytes = storageBytes;
  }

  get(uid: number): Quota {
    const username = this.#accounts.findByUid(uid)?.username ?? `uid ${uid}`;
    return { uid, username, usedBytes: this.#usage.bytesOf(uid), limitBytes: this.#limitOf(uid) };
  }

  list(): Quota[] {
    return this.#accounts.list().map(({ uid }) => this.get(uid));
  }

  /** How much more the user may store; Infinity for no limit. `more` is added to the limit, and may be negative. */
  remainingBytesOf(uid: number, more = 0): number {
    const limit = this.#limitOf(uid);
    return limit === Infinity ? limit : Math.max(0, limit + more - this.#usage.bytesOf(uid));
  }

  describeExcess(uid: number): string {
    const { username, usedBytes, limitBytes } = this.get(uid);
    return `Quota exceeded: ${username} uses ${formatByteSize(usedBytes)} of ${formatByteSize(limitBytes)}, and this does not fit: delete files or ask root to raise ${USER_QUOTAS_KEY}/${uid}`;
  }

  #limitOf(uid: number): number {
    if (uid === 0) return Infinity;
    return (
      this.#readLimit(`${USER_QUOTAS_KEY}/${uid}`) ??
      this.#readLimit(QUOTA_KEY) ??
      Math.min(DEFAULT_BYTES, (this.#storageBytes ?? Infinity) / 2)
    );
  }

  #readLimit(key: string): number | null {
    return parseLimit(this.#config.get(key)?.trim() ?? "");
  }
}

/** Why this value must not be set for this key; null if it may. A limit that cannot be parsed would limit nobody. */
export function quotaProblem(key: string, value: string): string | null {
  const isQuota = key === QUOTA_KEY || key.startsWith(`${USER_QUOTAS_KEY}/`);
  if (!isQuota) return null;
  if (key !== QUOTA_KEY && !/^\d+$/.test(key.slice(USER_QUOTAS_KEY.length + 1))) return `${USER_QUOTAS_KEY}/ must be followed by a uid`;
  return value.trim() === "" || parseLimit(value.trim()) !== null ? null : `${key} must be ${FORM}, or empty for the default`;
}

function parseLimit(text: string): number | null {
  return text === UNLIMITED ? Infinity : parseBytes(text);
}
