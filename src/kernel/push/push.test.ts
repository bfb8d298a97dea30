import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeStore } from "../../../test/support/fake-store.ts";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { makeBrowserKeys } from "../../../test/support/push-service.ts";
import { NetError, type NetRequest } from "../../ports/net.ts";
import { StorageError } from "../../ports/sql.ts";
import type { NotificationSource } from "../../protocol/notification-records.ts";
import { Notifications } from "../nouns/notifications.ts";
import { NotificationLevelsOfUsers } from "../nouns/notification-levels.ts";
import { announceNotification, type AnnounceNouns } from "../notifications/announce.ts";
import { PushSubscriptions, type PushSubscriptionRow } from "../nouns/push-subscriptions.ts";
import { migrate } from "../schema/migrate.ts";
import { Push } from "./push.ts";

const MINUTE_MS = 60_000;
const AGENT: NotificationSource = { kind: "process", processId: "p" };
const SCHEDULE: NotificationSource = { kind: "kernel", topic: "schedules" };
const QUESTION: NotificationSource = { kind: "kernel", topic: "approvals" };

let now: number;
let push: Push;
let subscriptions: PushSubscriptions;
let notifications: Notifications;
let nouns: AnnounceNouns;
/** Requests to push services in order, and how they are answered: by default with 201. */
let sent: NetRequest[];
let answer: (request: NetRequest) => Promise<{ status: number; headers?: Record<string, string> }>;
let isFull: boolean;

beforeEach(() => {
  now = 1_000_000;
  sent = [];
  isFull = false;
  answer = async () => ({ status: 201 });
  const sql = new MemorySql();
  migrate(sql);
  // Signing is done in another thread, for which nothing here would wait.
  const crypto = { ...memoryCrypto(new Random("push")), sign: async () => new Uint8Array(64) };
  subscriptions = new PushSubscriptions(sql, crypto);
  subscriptions.makeKeys();
  notifications = new Notifications(sql, crypto);
  const all = {
    get now() {
      return now;
    },
    pushSubscriptions: subscriptions,
    notifications,
    notificationLevels: new NotificationLevelsOfUsers(sql),
    tokens: { get: () => ({ revokedAt: null, expiresAt: null }) },
    accounts: { findByUid: () => ({ locked: false }) },
    processes: { get: () => undefined },
    config: { get: () => undefined },
    emit: { announceChanges() {}, sendNotification() {} },
    after: () => {},
    wakeBy: () => {},
  };
  nouns = all as unknown as AnnounceNouns;
  const net = {
    async fetch(request: NetRequest) {
      sent.push(request);
      const { status, headers = {} } = await answer(request);
      return { status, headers, body: { cancel: async () => {} } };
    },
  };
  const store = fakeStore(all, {
    ports: { crypto, net, log: { error() {} } },
    commit: async (body) => {
      if (isFull) throw new StorageError(true, new Error("full"));
      return body(all as never);
    },
  });
  push = new Push(store, () => []);
});

function subscribe(uid: number, name: string): PushSubscriptionRow {
  const { p256dh, auth } = makeBrowserKeys();
  const address = { endpoint: `https://push${uid}.example/${name}`, p256dh, auth };
  return subscriptions.add({ uid, tokenId: `${uid} ${name}`, origin: "https://gsv.example", label: name, address }, () => true, now);
}

function tell(uid: number, source: NotificationSource, title = "x"): void {
  announceNotification(nouns, uid, notifications.create(uid, { title, level: "info", actions: [], source }, now));
}

/** Lets time pass in steps; everything that is due is sent. */
async function pass(ms: number, stepMs = ms): Promise<void> {
  for (const until = now + ms; now < until;) {
    now += stepMs;
    push.onWake(now);
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

describe("Push", () => {
  it("lets nobody's slow push service keep the messages of others", async () => {
    const endless: (() => void)[] = [];
    answer = ({ url }) =>
      url.startsWith("https://push1.")
        ? new Promise((resolve) => endless.push(() => resolve({ status: 201 })))
        : Promise.resolve({ status: 201 });
    for (let i = 0; i < 20; i++) subscribe(1, `b${i}`);
    subscribe(2, "phone");
    for (let i = 0; i < 5; i++) tell(1, AGENT);
    await pass(1);
    tell(2, QUESTION);
    await pass(1);
    expect(sent.filter(({ url }) => url.startsWith("https://push2.")).length).toBe(1);
    expect(endless.length).toBe(2);
    for (const end of endless.splice(0)) end();
    await settle();
    expect(endless.length).toBe(2);
  });

  it("waits longer each time that a push service fails, whatever it asks for", async () => {
    answer = async () => ({ status: 503, headers: { "retry-after": "0.001" } });
    subscribe(1, "b");
    tell(1, AGENT);
    await pass(10 * MINUTE_MS, 500);
    // After 1, 2, 4 seconds and so on.
    expect(sent.length).toBe(10);
    answer = async () => {
      throw new NetError("connect", "Cannot connect");
    };
    await pass(26 * 60 * MINUTE_MS, MINUTE_MS);
    expect(sent.length).toBeLessThan(45);
    expect(subscriptions.nextDeliveryAt()).toBeNull();
  });

  it("sends nothing again that was accepted while storage was full", async () => {
    subscribe(1, "b");
    tell(1, AGENT);
    isFull = true;
    await pass(5 * MINUTE_MS, 1_000);
    expect(sent.length).toBe(1);
    isFull = false;
    await pass(60 * MINUTE_MS, MINUTE_MS);
    expect(sent.length).toBe(1);
    expect(subscriptions.nextDeliveryAt()).toBeNull();
  });

  it("does not let a browser for which something goes wrong here delay another", async () => {
    const broken = subscribe(1, "broken");
    subscribe(1, "whole");
    const addressOf = subscriptions.addressOf.bind(subscriptions);
    vi.spyOn(subscriptions, "addressOf").mockImplementation((id) => {
      if (id === broken.subscriptionId) throw new Error("on purpose");
      return addressOf(id);
    });
    tell(1, AGENT);
    await pass(10 * MINUTE_MS, 1_000);
    expect(sent.length).toBe(1);
    answer = async () => ({ status: 503 });
    tell(1, AGENT);
    await pass(1);
    expect(push.nextDueAt()).toBe(now + 1_000);
    subscriptions.remove(broken.subscriptionId);
    answer = async () => ({ status: 201 });
    await pass(2_000, 1_000);
    expect([sent.length, push.nextDueAt()]).toEqual([3, null]);
  });

  it("forgets browsers that know a key which the gateway cannot open any more", async () => {
    subscribe(1, "b");
    tell(1, AGENT);
    subscriptions.clearCaches();
    vi.spyOn(subscriptions, "keys").mockReturnValue(null);
    await pass(1);
    expect([sent, subscriptions.list()]).toEqual([[], []]);
  });

  it("sends what waited because of a clock that was wrong", async () => {
    answer = async () => ({ status: 503 });
    subscribe(1, "b");
    tell(1, AGENT);
    now += 400 * 24 * 60 * MINUTE_MS;
    subscriptions.recordAttempt(subscriptions.list()[0]!.subscriptionId, "failed", now + MINUTE_MS, now);
    now = 1_000_000;
    await pass(2 * 60 * MINUTE_MS, MINUTE_MS);
    expect(sent.length).toBeGreaterThan(0);
  });

  it("is not kept from what the gateway reports by an agent that writes a lot, nor from a question by anything", async () => {
    subscribe(1, "b");
    for (let i = 0; i < 100; i++) tell(1, AGENT);
    await pass(1_000, 10);
    expect(sent.length).toBe(20);
    for (let i = 0; i < 40; i++) tell(1, SCHEDULE);
    tell(1, QUESTION);
    await pass(1_000, 10);
    // Of a flood the newest wait, and the question with them.
    expect(sent.length).toBe(40);
    await pass(11 * MINUTE_MS);
    tell(1, AGENT);
    await pass(1);
    expect(sent.length).toBe(41);
  });

  it("keeps a question while a push service is away, and sends it first", async () => {
    answer = async () => ({ status: 503 });
    subscribe(1, "b");
    tell(1, AGENT, "first");
    await pass(1);
    tell(1, QUESTION, "the question");
    for (let i = 0; i < 25; i++) tell(1, AGENT);
    const urgencies = () => sent.map(({ headers }) => headers.urgency);
    sent = [];
    answer = async () => ({ status: 201 });
    await pass(MINUTE_MS, 1_000);
    expect(urgencies()[0]).toBe("high");
    expect(urgencies().filter((urgency) => urgency === "high").length).toBe(1);
  });
});
