// Browsers that get push messages, and the messages that wait to be sent to them. Owns push_subscriptions, push_deliveries and push_keys.
// Addresses at push services and all keys are sealed. A subscription belongs to the token with which its browser has signed in, and ends
// with it.

import { toBase64Url } from "../../lib/base64.ts";
import { fromHex, toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { type Crypto, UnsealError } from "../../ports/crypto.ts";
import type { Sql, SqlRow } from "../../ports/sql.ts";
import type { PushSubscriptionRecord, Threshold } from "../../protocol/push-records.ts";

/** Where a browser is reached, and what messages to it are encrypted with (RFC 8291). */
export type PushAddress = { endpoint: string; p256dh: string; auth: string };

export type PushSubscriptionRow = Omit<PushSubscriptionRecord, "isCurrent"> & {
  uid: number;
  tokenId: string;
  /** Of the page that has subscribed. */
  origin: string;
  /** Attempts in a row that failed. */
  failures: number;
  retryAt: number;
};

export type NewPushSubscription = Pick<PushSubscriptionRow, "uid" | "tokenId" | "origin" | "label"> & {
  /** Without it as before, in a browser that had a subscription. */
  level?: Threshold | undefined;
  mayAllow?: boolean | undefined;
  address: PushAddress;
};

/** Questions are sent first; then what the gateway itself reports; then the rest, which agents may write a lot of. */
export type PushPriority = 0 | 1 | 2;
export const QUESTION_PRIORITY = 2;

/** What identifies the gateway to push services (VAPID), and the key of the answers that it accepts from service workers. */
export type PushKeys = { publicKey: Uint8Array; privateKey: Uint8Array; answerKey: Uint8Array };

export type PushDelivery = { deliveryId: number; subscriptionId: string; uid: number; notificationId: string; queuedAt: number };

export type PushSubscriptionReads = Pick<
  PushSubscriptions,
  "find" | "list" | "addressOf" | "keys" | "publicKey" | "listDue" | "nextDeliveryAt" | "isAnyWaitingBeyond"
>;

const SUBSCRIPTIONS_PER_USER_MAX = 20;
/** Beyond these the oldest message is not sent any more: the notification is in the list all the same. */
const WAITING_MAX = 20;
const WINDOW_MS = 10 * 60 * 1000;
const WINDOW_COUNT_MAX = 30;
const ANSWER_KEY_BYTES = 32;
const ADDRESS = "push-address";
const KEYS = "push-keys";

export class PushSubscriptions {
  readonly #sql: Sql;
  readonly #crypto: Crypto;
  #keys: PushKeys | null = null;
  /** How many messages a browser was sent lately, by priority: kept in memory, so a restart forgets it. */
  readonly #windows = new Map<string, { at: number; count: number }[]>();

  constructor(sql: Sql, crypto: Crypto) {
    this.#sql = sql;
    this.#crypto = crypto;
  }

  /**
   * A browser has one subscription: it replaces the one with the same address, also that of a user who was signed in there before. Those of
   * the user that are not live are removed: nobody sees them, so they must not count.
   */
  add({ address, ...subscription }: NewPushSubscription, isLive: (one: PushSubscriptionRow) => boolean, now: number): PushSubscriptionRow {
    const { uid, tokenId, origin, label } = subscription;
    const hash = toHex(this.#crypto.sha256(address.endpoint));
    const replaced = this.#sql
      .all("SELECT * FROM push_subscriptions WHERE endpoint_hash = ? OR (uid = ? AND token_id = ?)", hash, uid, tokenId)
      .map(fromRow);
    for (const { subscriptionId } of replaced) this.remove(subscriptionId);
    const before = replaced.find((one) => one.uid === uid);
    const { level = before?.level ?? "all", mayAllow = before?.mayAllow ?? true } = subscription;
    for (const one of this.list(uid)) if (!isLive(one)) this.remove(one.subscriptionId);
    if (this.list(uid).length >= SUBSCRIPTIONS_PER_USER_MAX)
      fail(429, `Too many browsers get push messages: at most ${SUBSCRIPTIONS_PER_USER_MAX}. Turn it off in some`);
    const subscriptionId = this.#crypto.uuid();
    this.#sql.run(
      "INSERT INTO push_subscriptions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, 0, 0)",
      subscriptionId,
      uid,
      tokenId,
      hash,
      this.#crypto.seal(`${ADDRESS}/${subscriptionId}`, JSON.stringify(address)),
      new URL(address.endpoint).host,
      origin,
      label,
      level,
      Number(mayAllow),
      now,
    );
    return this.find(subscriptionId)!;
  }

  find(subscriptionId: string): PushSubscriptionRow | undefined {
    const row = this.#sql.get("SELECT * FROM push_subscriptions WHERE subscription_id = ?", subscriptionId);
    return row && fromRow(row);
  }

  /** The oldest first. Without a uid, those of all users. */
  list(uid?: number): PushSubscriptionRow[] {
    const rows =
      uid === undefined
        ? this.#sql.all("SELECT * FROM push_subscriptions ORDER BY created_at, subscription_id")
        : this.#sql.all("SELECT * FROM push_subscriptions WHERE uid = ? ORDER BY created_at, subscription_id", uid);
    return rows.map(fromRow);
  }

  update(subscriptionId: string, { level, mayAllow }: { level?: Threshold | undefined; mayAllow?: boolean | undefined }): void {
    this.#sql.run(
      "UPDATE push_subscriptions SET level = coalesce(?2, level), may_allow = coalesce(?3, may_allow) WHERE subscription_id = ?1",
      subscriptionId,
      level ?? null,
      mayAllow === undefined ? null : Number(mayAllow),
    );
  }

  remove(subscriptionId: string): boolean {
    this.#windows.delete(subscriptionId);
    this.#sql.run("DELETE FROM push_deliveries WHERE subscription_id = ?", subscriptionId);
    return this.#sql.run("DELETE FROM push_subscriptions WHERE subscription_id = ?", subscriptionId) > 0;
  }

  /** Null if there is none, or if it cannot be opened any more because the gateway's key was replaced. */
  addressOf(subscriptionId: string): PushAddress | null {
    const sealed = this.#sql.get("SELECT sealed FROM push_subscriptions WHERE subscription_id = ?", subscriptionId)?.sealed;
    const text = this.#open(`${ADDRESS}/${subscriptionId}`, sealed);
    return text === null ? null : (JSON.parse(text) as PushAddress);
  }

  /** A message was sent, or could not be. */
  recordAttempt(subscriptionId: string, error: string | null, retryAt: number, now: number): void {
    this.#sql.run(
      `UPDATE push_subscriptions SET last_error = ?2, retry_at = ?3, failures = iif(?2 IS NULL, 0, failures + 1),
         last_sent_at = iif(?2 IS NULL, ?4, last_sent_at) WHERE subscription_id = ?1`,
      subscriptionId,
      error,
      retryAt,
      now,
    );
  }

  /** Queues a message. One that nobody waits for is left out when many were sent lately: nobody wants a telephone that never rests. */
  queue({ subscriptionId, uid }: PushSubscriptionRow, notificationId: string, priority: PushPriority, now: number): void {
    if (priority !== QUESTION_PRIORITY && !this.#countInWindow(subscriptionId, priority, now)) return;
    this.#sql.run(
      "INSERT INTO push_deliveries (subscription_id, uid, notification_id, priority, queued_at) VALUES (?, ?, ?, ?, ?)",
      subscriptionId,
      uid,
      notificationId,
      priority,
      now,
    );
    this.#sql.run(
      `DELETE FROM push_deliveries WHERE delivery_id IN
         (SELECT delivery_id FROM push_deliveries WHERE subscription_id = ? ORDER BY priority DESC, delivery_id DESC LIMIT -1 OFFSET ?)`,
      subscriptionId,
      WAITING_MAX,
    );
  }

  /** False if the window is full. What the gateway reports has a window of its own, so that agents do not fill it. */
  #countInWindow(subscriptionId: string, priority: PushPriority, now: number): boolean {
    const windows = this.#windows.get(subscriptionId) ?? [];
    this.#windows.set(subscriptionId, windows);
    const window = windows[priority];
    if (window === undefined || now < window.at || now > window.at + WINDOW_MS) windows[priority] = { at: now, count: 1 };
    else window.count++;
    return windows[priority]!.count <= WINDOW_COUNT_MAX;
  }

  isAnyWaitingBeyond(at: number): boolean {
    return this.#sql.get("SELECT 1 FROM push_subscriptions WHERE retry_at > ? LIMIT 1", at) !== undefined;
  }

  /** What was to be tried again only after this time is tried now. */
  retryNow(after: number): void {
    this.#sql.run("UPDATE push_subscriptions SET retry_at = 0 WHERE retry_at > ?", after);
  }

  endDelivery(deliveryId: number): void {
    this.#sql.run("DELETE FROM push_deliveries WHERE delivery_id = ?", deliveryId);
  }

  /** The first message of each browser that may be sent to now. */
  listDue(now: number, limit: number): PushDelivery[] {
    return this.#sql
      .all(
        `SELECT * FROM
           (SELECT push_deliveries.*, row_number() OVER (PARTITION BY subscription_id ORDER BY priority DESC, delivery_id) AS place
            FROM push_deliveries JOIN push_subscriptions USING (subscription_id) WHERE retry_at <= ?)
         WHERE place = 1 ORDER BY priority DESC, delivery_id LIMIT ?`,
        now,
        limit,
      )
      .map((row) => ({
        deliveryId: Number(row.delivery_id),
        subscriptionId: String(row.subscription_id),
        uid: Number(row.uid),
        notificationId: String(row.notification_id),
        queuedAt: Number(row.queued_at),
      }));
  }

  /** When a message may be sent next, to others than these browsers. */
  nextDeliveryAt(except: readonly string[] = []): number | null {
    const due = this.#sql.get(
      `SELECT min(retry_at) AS due FROM push_deliveries JOIN push_subscriptions USING (subscription_id)
       WHERE subscription_id NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify(except),
    )?.due;
    return due == null ? null : Number(due);
  }

  /** What browsers know this gateway by, unpadded base64url; null before the first subscription. */
  publicKey(): string | null {
    return (this.#sql.get("SELECT public_key FROM push_keys")?.public_key as string | undefined) ?? null;
  }

  /** Null before the first subscription, or if they cannot be opened any more because the gateway's key was replaced. */
  keys(): PushKeys | null {
    if (this.#keys !== null) return this.#keys;
    const text = this.#open(KEYS, this.#sql.get("SELECT sealed FROM push_keys")?.sealed);
    this.#keys = text === null ? null : parseKeys(text);
    return this.#keys;
  }

  /**
   * Makes the gateway's keys unless it has some. Keys that cannot be opened any more are replaced: what was subscribed with them is
   * removed, because no message to it would be accepted.
   */
  makeKeys(): string {
    if (this.keys() !== null) return this.publicKey()!;
    for (const table of ["push_deliveries", "push_subscriptions", "push_keys"]) this.#sql.run(`DELETE FROM ${table}`);
    const { publicKey, privateKey } = this.#crypto.makeKeyPair();
    const text = formatKeys({ publicKey, privateKey, answerKey: this.#crypto.randomBytes(ANSWER_KEY_BYTES) });
    this.#sql.run("INSERT INTO push_keys VALUES (1, ?, ?)", toBase64Url(publicKey), this.#crypto.seal(KEYS, text));
    return toBase64Url(publicKey);
  }

  clearCaches(): void {
    this.#keys = null;
  }

  #open(purpose: string, sealed: SqlRow[string] | undefined): string | null {
    if (typeof sealed !== "string") return null;
    try {
      return this.#crypto.unseal(purpose, sealed);
    } catch (error) {
      if (error instanceof UnsealError) return null;
      throw error;
    }
  }
}

function formatKeys(keys: PushKeys): string {
  return JSON.stringify(Object.fromEntries(Object.entries(keys).map(([name, bytes]) => [name, toHex(bytes)])));
}

function parseKeys(text: string): PushKeys {
  const { publicKey, privateKey, answerKey } = JSON.parse(text) as Record<keyof PushKeys, string>;
  return { publicKey: fromHex(publicKey), privateKey: fromHex(privateKey), answerKey: fromHex(answerKey) };
}

function fromRow(row: SqlRow): PushSubscriptionRow {
  return {
    subscriptionId: String(row.subscription_id),
    uid: Number(row.uid),
    tokenId: String(row.token_id),
    label: String(row.label),
    service: String(row.service),
    origin: String(row.origin),
    level: row.level as Threshold,
    mayAllow: row.may_allow === 1,
    createdAt: Number(row.created_at),
    lastSentAt: row.last_sent_at as number | null,
    lastError: row.last_error as string | null,
    failures: Number(row.failures),
    retryAt: Number(row.retry_at),
  };
}
