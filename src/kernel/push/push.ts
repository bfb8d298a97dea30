// Sends push messages to browsers, until each was accepted by its push service, or is not needed any more. What is to be sent is a row
// (notifications/announce.ts), so a restart continues here. Nothing waits for it: a push service that cannot be reached is tried again
// later, and its browsers alone are behind.

import { isTokenLive } from "../../lib/token-end.ts";
import { UnsealError } from "../../ports/crypto.ts";
import type { Caller } from "../../protocol/caller.ts";
import { NetError } from "../../ports/net.ts";
import type { NotificationRecord } from "../../protocol/notification-records.ts";
import type { ReadContext } from "../context.ts";
import { isQuestion } from "../../protocol/notification-levels.ts";
import type { PushAddress, PushDelivery, PushKeys, PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";
import { fromBase64Url } from "../../lib/base64.ts";
import { makeAuthorization } from "./authorization.ts";
import { encryptMessage } from "./encrypt.ts";
import { encodePayload, encodeTest } from "./payload.ts";
import { checkAddress } from "./subscribe.ts";

/** What became of an attempt. `gone`: the browser does not want messages any more. */
type Outcome = { state: "sent" } | { state: "gone" } | { state: "refused" | "failed"; error: string; waitMs?: number };

type Message = { plain: Uint8Array; ttlMs: number; isUrgent: boolean; topic?: string };

const AT_ONCE = 8;
const TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const RETRY_MS_MIN = 15_000;
const RETRY_MS_MAX = 60 * 60 * 1000;
/** What could not be sent for so long is old news. */
const WAITING_MS_MAX = 24 * 60 * 60 * 1000;
/** The longest that push services keep a message. */
const TTL_MS_MAX = 28 * 24 * 60 * 60 * 1000;
const TEST_TTL_MS = 60_000;
/** If the gateway is lost meanwhile, it is woken again; only Cloudflare needs that. */
const UNDER_WAY_MS = 30_000;

export class Push implements Part {
  readonly #store: Store;
  readonly #origins: () => readonly string[];
  /** Subscriptions that a message is being sent to. */
  readonly #sending = new Set<string>();

  /** `origins` are the gateway's own addresses. */
  constructor(store: Store, origins: () => readonly string[]) {
    this.#store = store;
    this.#origins = origins;
  }

  begin(): void {
    this.#sendDue();
  }

  onWake(now: number): void {
    const { pushSubscriptions } = this.#store.reads;
    // The clock was set back.
    if ((pushSubscriptions.nextDeliveryAt() ?? 0) > now + RETRY_MS_MAX)
      this.#store.relaxed((nouns) => nouns.pushSubscriptions.retryNow(now + RETRY_MS_MAX));
    this.#sendDue();
  }

  nextDueAt(): number | null {
    const { now, pushSubscriptions } = this.#store.reads;
    const dueAt = pushSubscriptions.nextDeliveryAt();
    return dueAt === null ? null : this.#sending.size === 0 ? dueAt : Math.max(dueAt, now + UNDER_WAY_MS);
  }

  /** The address at which the caller's page found the gateway. */
  originOf({ connectionId }: Caller): string {
    return this.#store.ports.sockets.peer(connectionId)?.origin ?? this.#origins()[0] ?? "http://localhost";
  }

  checkAddress(address: PushAddress): void {
    checkAddress(this.#store.ports.crypto, address);
  }

  /** Sends a test message now. Null if the push service has accepted it, or why it did not. */
  async sendTest(subscription: PushSubscriptionRow): Promise<string | null> {
    const outcome = await this.#post(subscription, { plain: encodeTest(this.#store.reads.now), ttlMs: TEST_TTL_MS, isUrgent: true });
    await this.#record(subscription, outcome);
    return describeOutcome(outcome);
  }

  #sendDue(): void {
    const { now, pushSubscriptions } = this.#store.reads;
    for (const delivery of pushSubscriptions.listDue(now, AT_ONCE + this.#sending.size)) {
      if (this.#sending.size >= AT_ONCE) return;
      if (this.#sending.has(delivery.subscriptionId)) continue;
      this.#sending.add(delivery.subscriptionId);
      void this.#deliver(delivery)
        .catch((error: unknown) => {
          this.#store.ports.log.error("a push message could not be sent", { uid: delivery.uid, error: String(error) });
          return false;
        })
        .then((isSettled) => {
          this.#sending.delete(delivery.subscriptionId);
          if (isSettled) this.#store.attempt(() => this.#sendDue());
          this.#store.wakeBy(isSettled ? this.nextDueAt() : this.#store.reads.now + RETRY_MS_MIN);
        });
    }
  }

  /** Resolves to false if nothing may be known about what happened. */
  async #deliver(delivery: PushDelivery): Promise<boolean> {
    const { reads } = this.#store;
    const subscription = reads.pushSubscriptions.find(delivery.subscriptionId);
    const message = subscription && this.#makeMessage(subscription, delivery);
    const isWanted = subscription !== undefined && isSubscriptionLive(reads, subscription);
    if (subscription !== undefined && !isWanted) await this.#record(subscription, { state: "gone" });
    else if (subscription === undefined || message == null) await this.#end(delivery);
    else {
      const outcome = await this.#post(subscription, message);
      await this.#record(subscription, outcome, delivery);
    }
    return true;
  }

  /** Null if it is not needed any more: the notification was read, has expired or is old. */
  #makeMessage(subscription: PushSubscriptionRow, { uid, notificationId, queuedAt }: PushDelivery): Message | null {
    const { reads, ports } = this.#store;
    const notification = reads.notifications.find(uid, notificationId, reads.now);
    if (notification === undefined || notification.readAt !== null || notification.dismissedAt !== null) return null;
    if (reads.now - queuedAt > WAITING_MS_MAX) return null;
    const keys = this.#openKeys();
    if (keys === null) return null;
    return {
      plain: encodePayload(ports.crypto, keys.answerKey, subscription, notification),
      ttlMs: Math.min(TTL_MS_MAX, (notification.expiresAt ?? Infinity) - reads.now),
      isUrgent: isUrgent(notification),
      topic: notificationId.replaceAll("-", "").slice(0, 32),
    };
  }

  async #post(subscription: PushSubscriptionRow, { plain, ttlMs, isUrgent, topic }: Message): Promise<Outcome> {
    const { reads, ports } = this.#store;
    const keys = this.#openKeys();
    const address = keys === null ? undefined : reads.pushSubscriptions.addressOf(subscription.subscriptionId);
    if (keys === null || address === undefined) return { state: "gone" };
    const { endpoint } = address;
    const receiver = { publicKey: fromBase64Url(address.p256dh)!, authSecret: fromBase64Url(address.auth)! };
    const authorization = await makeAuthorization(ports.crypto, keys, { endpoint, origin: subscription.origin, now: reads.now });
    const headers = {
      authorization,
      ttl: String(Math.max(0, Math.floor(ttlMs / 1000))),
      urgency: isUrgent ? "high" : "normal",
      "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
      ...(topic === undefined ? {} : { topic }),
    };
    try {
      const body = encryptMessage(ports.crypto, receiver, plain);
      const response = await ports.net.fetch(
        { url: endpoint, method: "POST", headers, body },
        { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX, redirects: "manual" },
      );
      await response.body.cancel();
      return readOutcome(response.status, response.headers["retry-after"]);
    } catch (error) {
      if (error instanceof NetError) return { state: "failed", error: error.message };
      throw error;
    }
  }

  async #record(subscription: PushSubscriptionRow, outcome: Outcome, delivery?: PushDelivery): Promise<void> {
    const { subscriptionId, uid, failures } = subscription;
    await this.#store.commit(({ pushSubscriptions, emit, after, now }) => {
      if (outcome.state === "gone") pushSubscriptions.remove(subscriptionId);
      else {
        const error = outcome.state === "sent" ? null : outcome.error;
        const waitMs = outcome.state === "failed" ? (outcome.waitMs ?? Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures)) : 0;
        pushSubscriptions.recordAttempt(subscriptionId, error, now + waitMs, now);
        if (delivery !== undefined && outcome.state !== "failed") pushSubscriptions.endDelivery(delivery.deliveryId);
      }
      after(() => emit.announceChanges(uid, ["push"]));
    });
  }

  async #end({ deliveryId }: PushDelivery): Promise<void> {
    await this.#store.commit(({ pushSubscriptions }) => pushSubscriptions.endDelivery(deliveryId));
  }

  /** Null if there are none, or if they cannot be opened any more, so that everybody has to subscribe again. */
  #openKeys(): PushKeys | null {
    try {
      return this.#store.reads.pushSubscriptions.keys();
    } catch (error) {
      if (error instanceof UnsealError) return null;
      throw error;
    }
  }
}

/** Whether its browser is still signed in as a user who may be there. */
export function isSubscriptionLive(
  { tokens, accounts, now }: Pick<ReadContext, "tokens" | "accounts" | "now">,
  { tokenId, uid }: Pick<PushSubscriptionRow, "tokenId" | "uid">,
): boolean {
  const token = tokens.get(tokenId);
  const account = accounts.findByUid(uid);
  return token !== undefined && isTokenLive(token, now) && account !== undefined && !account.locked;
}

/** Whether the push service should wake a device for it. */
function isUrgent({ source, level }: NotificationRecord): boolean {
  return isQuestion(source) || level === "error";
}

function readOutcome(status: number, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status < 300) return { state: "sent" };
  if (status === 404 || status === 410) return { state: "gone" };
  const error = `The push service answered with HTTP ${status}`;
  if (status !== 429 && status < 500) return { state: "refused", error };
  const seconds = Number(retryAfter);
  return { state: "failed", error, ...(seconds > 0 ? { waitMs: Math.min(RETRY_MS_MAX, seconds * 1000) } : {}) };
}

function describeOutcome(outcome: Outcome): string | null {
  if (outcome.state === "sent") return null;
  if (outcome.state === "gone") return "The browser does not accept push messages any more: turn them on there again";
  return outcome.error;
}
