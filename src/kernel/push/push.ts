// Sends push messages to browsers, until each was accepted by its push service, or is not needed any more. What is to be sent is a row
// (notifications/announce.ts), so a restart continues here. Nothing waits for it: a push service that cannot be reached is tried again
// later, and its browsers alone are behind.

import { isTokenLive } from "../../lib/token-end.ts";
import type { Caller } from "../../protocol/caller.ts";
import { NetError } from "../../ports/net.ts";
import type { NotificationRecord } from "../../protocol/notification-records.ts";
import type { ReadContext } from "../context.ts";
import { isQuestion } from "../../protocol/notification-levels.ts";
import type { PushAddress, PushDelivery, PushKeys, PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import { earliestOf, type Part } from "../part.ts";
import type { Store } from "../store.ts";
import { fromBase64Url } from "../../lib/base64.ts";
import { findContact, makeAuthorization } from "./authorization.ts";
import { encryptMessage } from "./encrypt.ts";
import { nameOfProcess } from "../agents/question-records.ts";
import { encodePayload, encodeTest } from "./payload.ts";
import { checkAddress } from "./subscribe.ts";

/** What became of an attempt. `gone`: the browser does not want messages any more, or not from us. */
type Outcome = { state: "sent" } | { state: "gone" } | { state: "refused" | "failed"; error: string; waitMs?: number };

type Message = { plain: Uint8Array; ttlMs: number; isUrgent: boolean; topic?: string };

const AT_ONCE = 8;
const AT_ONCE_PER_USER = 2;
/** How many browsers one look considers. */
const LOOK = 500;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60 * 60 * 1000;
/** What could not be sent for so long is old news. */
const WAITING_MS_MAX = 24 * 60 * 60 * 1000;
/** The longest that push services keep a message. */
const TTL_MS_MAX = 28 * 24 * 60 * 60 * 1000;
/** What is wrong with us may be put right, such as the clock; what is wrong with a message stays. */
const RETRIED: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
/** Whom push services may look for: root may set an https address or a mailbox. */
const CONTACT_KEY = "config/push/contact";
const TEST_TTL_MS = 60_000;
/** If the gateway is lost meanwhile, it is woken again; only Cloudflare needs that. */
const UNDER_WAY_MS = 30_000;

export class Push implements Part {
  readonly #store: Store;
  readonly #origins: () => readonly string[];
  /** Subscriptions that a message is being sent to, with their users. */
  readonly #sending = new Map<string, number>();
  /** In which order users were served last. */
  readonly #served = new Map<number, number>();
  #serveCount = 0;
  /** Outcomes that could not be stored, by delivery: what was sent is not sent again. */
  readonly #unrecorded = new Map<number, Outcome>();
  /** Subscriptions for which something went wrong here, by how often in a row, and until when they rest. */
  readonly #resting = new Map<string, { count: number; until: number }>();

  /** `origins` are the gateway's own addresses. */
  constructor(store: Store, origins: () => readonly string[]) {
    this.#store = store;
    this.#origins = origins;
  }

  begin(): void {
    // Browsers that know a key which cannot be opened any more have to subscribe again.
    if (this.#store.reads.pushSubscriptions.list().length > 0 && this.#store.reads.pushSubscriptions.keys() === null)
      this.#store.attempt(() => this.#store.write(({ pushSubscriptions }) => pushSubscriptions.makeKeys()));
    this.#sendDue();
  }

  onWake(now: number): void {
    const { pushSubscriptions } = this.#store.reads;
    // The clock was set back.
    if (pushSubscriptions.isAnyWaitingBeyond(now + RETRY_MS_MAX))
      this.#store.relaxed((nouns) => nouns.pushSubscriptions.retryNow(now + RETRY_MS_MAX));
    for (const [id, { until }] of this.#resting)
      if (until > now + RETRY_MS_MAX || pushSubscriptions.find(id) === undefined) this.#resting.delete(id);
    this.#sendDue();
  }

  nextDueAt(): number | null {
    const { now, pushSubscriptions } = this.#store.reads;
    // The end of each message sends those that have to wait for it.
    if (this.#sending.size > 0) return now + UNDER_WAY_MS;
    const resting = [...this.#resting].filter(([, { until }]) => until > now);
    const dueAt = pushSubscriptions.nextDeliveryAt(resting.map(([id]) => id));
    return earliestOf([dueAt, ...resting.map(([, { until }]) => until)]);
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

  /** A few messages of each user at once; who was served longest ago comes first. */
  #sendDue(): void {
    const { now, pushSubscriptions } = this.#store.reads;
    const due = pushSubscriptions
      .listDue(now, LOOK)
      .filter(({ subscriptionId }) => !this.#sending.has(subscriptionId) && (this.#resting.get(subscriptionId)?.until ?? 0) <= now);
    while (this.#sending.size < AT_ONCE) {
      const users = [...this.#sending.values()];
      const next = due
        .filter(({ uid }) => users.filter((one) => one === uid).length < AT_ONCE_PER_USER)
        .reduce<PushDelivery | null>((best, one) => (best === null || this.#servedAt(one) < this.#servedAt(best) ? one : best), null);
      if (next === null) return;
      due.splice(due.indexOf(next), 1);
      this.#served.set(next.uid, ++this.#serveCount);
      void this.#send(next);
    }
  }

  #servedAt({ uid }: PushDelivery): number {
    return this.#served.get(uid) ?? 0;
  }

  async #send(delivery: PushDelivery): Promise<void> {
    const { subscriptionId, uid } = delivery;
    this.#sending.set(subscriptionId, uid);
    try {
      await this.#deliver(delivery);
      this.#resting.delete(subscriptionId);
    } catch (error) {
      const count = (this.#resting.get(subscriptionId)?.count ?? 0) + 1;
      this.#resting.set(subscriptionId, { count, until: this.#store.reads.now + Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (count - 1)) });
      this.#store.ports.log.error("a push message could not be sent", { uid, error: String(error) });
    }
    this.#sending.delete(subscriptionId);
    this.#store.attempt(() => this.#sendDue());
    this.#store.wakeBy(this.nextDueAt());
  }

  async #deliver(delivery: PushDelivery): Promise<void> {
    const { reads } = this.#store;
    const subscription = reads.pushSubscriptions.find(delivery.subscriptionId);
    if (subscription === undefined) return this.#end(delivery);
    if (!isSubscriptionLive(reads, subscription)) return this.#record(subscription, { state: "gone" });
    const outcome = this.#unrecorded.get(delivery.deliveryId) ?? (await this.#sendMessage(subscription, delivery));
    if (outcome === null) return this.#end(delivery);
    this.#unrecorded.set(delivery.deliveryId, outcome);
    await this.#record(subscription, outcome, delivery);
    this.#unrecorded.delete(delivery.deliveryId);
  }

  /** Null if it is not needed any more. */
  async #sendMessage(subscription: PushSubscriptionRow, delivery: PushDelivery): Promise<Outcome | null> {
    const keys = this.#store.reads.pushSubscriptions.keys();
    if (keys === null) return { state: "gone" };
    const message = this.#makeMessage(subscription, delivery, keys);
    return message === null ? null : this.#post(subscription, message);
  }

  /** Null if it is not needed any more: the notification was read, has expired or is old. */
  #makeMessage(
    subscription: PushSubscriptionRow,
    { uid, notificationId, queuedAt }: PushDelivery,
    { answerKey }: PushKeys,
  ): Message | null {
    const { reads, ports } = this.#store;
    const notification = reads.notifications.find(uid, notificationId, reads.now);
    if (notification === undefined || notification.readAt !== null || notification.dismissedAt !== null) return null;
    if (reads.now - queuedAt > WAITING_MS_MAX) return null;
    const { source } = notification;
    const agent = source.kind === "process" ? nameOfProcess(reads.processes, source.processId) : null;
    return {
      plain: encodePayload({ crypto: ports.crypto, answerKey }, subscription, notification, agent),
      ttlMs: Math.min(TTL_MS_MAX, (notification.expiresAt ?? Infinity) - reads.now),
      isUrgent: isUrgent(notification),
      topic: notificationId.replaceAll("-", "").slice(0, 32),
    };
  }

  async #post(subscription: PushSubscriptionRow, { plain, ttlMs, isUrgent, topic }: Message): Promise<Outcome> {
    const { reads, ports } = this.#store;
    const keys = reads.pushSubscriptions.keys();
    const address = reads.pushSubscriptions.addressOf(subscription.subscriptionId);
    if (keys === null || address === null) return { state: "gone" };
    const { endpoint } = address;
    const receiver = { publicKey: fromBase64Url(address.p256dh)!, authSecret: fromBase64Url(address.auth)! };
    const contact = findContact(reads.config.get(CONTACT_KEY), subscription.origin);
    const authorization = await makeAuthorization(ports.crypto, keys, { endpoint, contact, now: reads.now });
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
        const leastMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures);
        const waitMs = outcome.state === "failed" ? Math.max(leastMs, outcome.waitMs ?? 0) : 0;
        pushSubscriptions.recordAttempt(subscriptionId, error, now + waitMs, now);
        if (delivery !== undefined && outcome.state !== "failed") pushSubscriptions.endDelivery(delivery.deliveryId);
      }
      after(() => emit.announceChanges(uid, ["push"]));
    });
  }

  async #end({ deliveryId }: PushDelivery): Promise<void> {
    this.#unrecorded.delete(deliveryId);
    await this.#store.commit(({ pushSubscriptions }) => pushSubscriptions.endDelivery(deliveryId));
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
  if (status < 500 && !RETRIED.has(status)) return { state: "refused", error };
  const seconds = Number(retryAfter);
  return { state: "failed", error, ...(seconds > 0 ? { waitMs: Math.min(RETRY_MS_MAX, seconds * 1000) } : {}) };
}

function describeOutcome(outcome: Outcome): string | null {
  if (outcome.state === "sent") return null;
  if (outcome.state === "gone") return "The browser does not accept push messages any more: turn them on there again";
  return outcome.error;
}
