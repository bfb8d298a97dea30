// notification.push.* and notification.settings.*: what is sent to browsers, and what their service workers answer.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { Arguments, CallResult } from "../../../src/client/connection.ts";
import type { PushAnswer, PushPayload } from "../../../src/protocol/push-message.ts";
import { type PushService, startPushService, type TestBrowser } from "../../support/push-service.ts";
import { says, wants } from "../../support/models/scripted.ts";
import { type Stage, stages } from "../stage.ts";
import { expectRefusal, type World } from "../verifies.ts";

type Subscription = CallResult<"notification.push.subscribe">["subscription"];

const ABSENT = "00000000-0000-4000-8000-000000000000";

const ALL = Object.fromEntries(
  ["agents", "you", "apps", "approvals", "budgets", "devices", "schedules", "watches"].map((origin) => [origin, "all"]),
);

type PushStage = Stage & {
  service: PushService;
  /** Subscribes a browser of this client's user, with a sign-in of its own. */
  subscribe: (by: Client, args?: Partial<Arguments<"notification.push.subscribe">>) => Promise<Subscribed>;
};
type Subscribed = { browser: TestBrowser; subscription: Subscription; client: Client; tokenId: string };

/** Registers a case with a push service that the gateway may reach. */
function pushes(id: string, body: (stage: PushStage) => Promise<void>): void {
  stages(id, async (stage) => {
    const service = await startPushService();
    const made: Subscribed[] = [];
    try {
      await stage.set("config/net/allowed_hosts", "127.0.0.1");
      await body({
        ...stage,
        service,
        async somebody() {
          const person = await stage.somebody();
          // Their model has just been made the only one that may be reached.
          await stage.root.call("sys.config.set", { key: "config/net/allowed_hosts", value: "127.0.0.1" });
          return person;
        },
        async subscribe(by, args = {}) {
          const browser = service.makeBrowser();
          const { client, tokenId } = await signIn(stage.world, by);
          const { subscription } = await client.call("notification.push.subscribe", { ...addressOf(browser), label: "Test", ...args });
          made.push({ browser, subscription, client, tokenId });
          return made.at(-1)!;
        },
      });
    } finally {
      for (const { client, subscription } of made)
        await client.call("notification.push.unsubscribe", { subscriptionId: subscription.subscriptionId }).catch(() => {});
      await service.close();
    }
  });
}

async function signIn(world: World, by: Client): Promise<{ client: Client; tokenId: string }> {
  const { token } = await by.call("sys.token.create", { kind: "user", label: "browser" });
  const { username } = by.session.identity.process;
  return { client: await world.connect({ username, token: token.token }), tokenId: token.tokenId };
}

function addressOf({ endpoint, keys }: TestBrowser) {
  return { endpoint, keys };
}

/** The messages to a browser, as soon as there are so many. */
async function received(service: PushService, browser: TestBrowser, count: number): Promise<PushPayload[]> {
  await expect.poll(() => service.read(browser).length, { message: `${count} push messages` }).toBeGreaterThanOrEqual(count);
  return service.read(browser);
}

async function listed(client: Client): Promise<Subscription[]> {
  return (await client.call("notification.push.list", {})).subscriptions;
}

function answerQuestion(world: World, payload: PushPayload, decision: "approve" | "deny", change: object = {}): Promise<Response> {
  const { subscriptionId, requestId, answers } = payload.question!;
  const { proof } = answers.find((one) => one.decision === decision) as PushAnswer;
  return fetch(`${world.host.url}/push/answer`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ subscriptionId, requestId, decision, proof, ...change }),
  });
}

pushes("notification.push.key:stable", async ({ ann, somebody }) => {
  const { publicKey } = await ann.call("notification.push.key", {});
  const point = Buffer.from(publicKey, "base64url");
  expect([point.length, point[0]]).toEqual([65, 4]);
  expect(await (await somebody()).call("notification.push.key", {})).toEqual({ publicKey });
});

pushes("notification.push.subscribe:sends", async ({ ann, service, subscribe }) => {
  const { browser, subscription, client } = await subscribe(ann, { label: "  Firefox on Linux " });
  expect(subscription).toEqual({
    subscriptionId: expect.any(String),
    label: "Firefox on Linux",
    service: new URL(service.url).host,
    level: "all",
    mayAllow: true,
    isCurrent: true,
    createdAt: expect.any(Number),
    lastSentAt: null,
    lastError: null,
  });
  const { notification } = await ann.call("notification.create", {
    title: "The backup is done \u202e",
    body: "1,204 files",
    level: "success",
    ttlMs: 60_000,
    actions: [{ kind: "open", label: "Look", target: "/machines/nas" }],
  });
  const [payload] = await received(service, browser, 1);
  expect(payload).toEqual({
    version: 1,
    notificationId: notification.notificationId,
    title: "The backup is done ⟨U+202E⟩",
    body: "1,204 files",
    level: "success",
    createdAt: notification.createdAt,
    path: "/machines/nas",
  });
  const [{ headers, claims, key }] = service.received as [(typeof service.received)[number]];
  expect(headers).toMatchObject({ "content-encoding": "aes128gcm", urgency: "normal", topic: expect.stringMatching(/^[\w-]{1,32}$/) });
  expect(Number(headers.ttl)).toBeGreaterThan(30);
  expect(Number(headers.ttl)).toBeLessThanOrEqual(60);
  expect(key).toBe((await client.call("notification.push.key", {})).publicKey);
  expect(Number(claims.exp) - Date.now() / 1000).toBeLessThan(24 * 3600);
  expect(claims.sub).toMatch(/^(?:mailto:|https:)/);
  await expect.poll(async () => (await listed(client))[0]?.lastSentAt).toEqual(expect.any(Number));
  expect(JSON.stringify(await listed(client))).not.toContain(browser.endpoint);
  // Long texts in letters that take several bytes fit, and a place outside of the desktop is not opened.
  await ann.call("notification.create", {
    title: "語".repeat(200),
    body: "語".repeat(4_000),
    level: "error",
    actions: [{ kind: "open", label: "Go", target: "//evil.example" }],
  });
  const [, long] = await received(service, browser, 2);
  expect(long).toMatchObject({ path: "/notifications", body: expect.stringMatching(/^語{100,}…$/) });
  expect(service.received[1]!.headers.urgency).toBe("high");
});

pushes("notification.push.subscribe:validates", async ({ ann, service }) => {
  const browser = service.makeBrowser();
  const refused = (args: object, message: RegExp) =>
    expectRefusal(ann.call("notification.push.subscribe", { ...addressOf(browser), label: "x", ...args }), 400, message);
  for (const endpoint of ["http://push.example/x", "ftp://push.example/x", "push", "https://a:b@push.example/x"])
    await refused({ endpoint }, /^endpoint must /);
  await refused({ keys: { ...browser.keys, auth: "AAAA" } }, /^keys\.auth must be 16 bytes/);
  for (const p256dh of ["AAAA", Buffer.alloc(65, 4).toString("base64url"), browser.keys.p256dh.replace(/^./, "A"), "!"])
    await refused({ keys: { ...browser.keys, p256dh } }, /^keys\.p256dh must be an uncompressed point/);
  await refused({ label: " " }, /label/);
  await refused({ level: "loud" }, /level/);
});

pushes("notification.push.subscribe:who", async ({ ann, service, world, root }) => {
  const auth = { username: "pushless", password: "long enough" };
  await root.call("sys.user.create", auth);
  const byPassword = await world.connect(auth);
  const subscribing = byPassword.call("notification.push.subscribe", { ...addressOf(service.makeBrowser()), label: "x" });
  await expectRefusal(subscribing, 403, /signed in with a token/);
  for (const call of ["key", "subscribe", "update", "unsubscribe", "test"])
    expect(await ann.call("proc.approval.preview", { call: `notification.push.${call}` }), call).toMatchObject({ action: "deny" });
});

pushes("notification.push.subscribe:replaces", async ({ ann, subscribe, service, somebody, world }) => {
  const { browser, client, subscription, tokenId } = await subscribe(ann);
  await client.call("notification.push.update", { subscriptionId: subscription.subscriptionId, level: "error", mayAllow: false });
  const again = (await client.call("notification.push.subscribe", { ...addressOf(browser), label: "Again" })).subscription;
  expect(again).toMatchObject({ level: "error", mayAllow: false });
  expect((await listed(client)).map(({ subscriptionId }) => subscriptionId)).toEqual([again.subscriptionId]);
  expect(again.subscriptionId).not.toBe(subscription.subscriptionId);
  // Also if it has been signed out meanwhile.
  await ann.call("sys.token.revoke", { tokenId });
  const anew = (await signIn(world, ann)).client;
  const signedIn = (await anew.call("notification.push.subscribe", { ...addressOf(browser), label: "Again" })).subscription;
  expect(signedIn).toMatchObject({ level: "error", mayAllow: false, isCurrent: true });
  const moved = (await anew.call("notification.push.subscribe", { ...addressOf(service.makeBrowser()), label: "Moved" })).subscription;
  expect((await listed(anew)).map(({ subscriptionId }) => subscriptionId)).toEqual([moved.subscriptionId]);
  // Somebody else has signed in to the same browser.
  await anew.call("notification.push.subscribe", { ...addressOf(browser), label: "Hers" });
  const other = await signIn(world, await somebody());
  await other.client.call("notification.push.subscribe", { ...addressOf(browser), label: "Theirs" });
  expect(await listed(anew)).toEqual([]);
  expect(await listed(other.client)).toMatchObject([{ label: "Theirs" }]);
  await ann.call("notification.create", { title: "For Ann alone" });
  await other.client.call("notification.create", { title: "For the other" });
  expect((await received(service, browser, 1)).map(({ title }) => title)).toEqual(["For the other"]);
});

pushes("notification.push.subscribe:signed-out", async ({ ann, subscribe, service }) => {
  const first = await subscribe(ann);
  const second = await subscribe(ann);
  await ann.call("sys.token.revoke", { tokenId: first.tokenId });
  await ann.call("notification.create", { title: "For who is signed in" });
  await received(service, second.browser, 1);
  expect(service.read(first.browser)).toEqual([]);
  expect((await listed(ann)).map(({ subscriptionId }) => subscriptionId)).toEqual([second.subscription.subscriptionId]);
});

pushes("notification.push.subscribe:failures", async ({ ann, subscribe, service }) => {
  const { browser, client } = await subscribe(ann);
  const state = async () => (await listed(client)).map(({ lastError }) => lastError);
  service.answers.push({ status: 429, headers: { "retry-after": "1" } });
  await ann.call("notification.create", { title: "first" });
  await expect.poll(state).toEqual(["The push service answered with HTTP 429"]);
  await expect.poll(state, { timeout: 20_000 }).toEqual([null]);
  service.answers.push({ status: 413 });
  await ann.call("notification.create", { title: "refused" });
  await expect.poll(state).toEqual(["The push service answered with HTTP 413"]);
  const { checks } = await client.call("sys.doctor", {});
  expect(checks.find(({ id }) => id === "push")).toMatchObject({
    state: "warn",
    says: expect.stringMatching(/^The last message was not accepted by the push service of Test \(127.*HTTP 413\.$/),
  });
  await ann.call("notification.create", { title: "second" });
  await expect.poll(state).toEqual([null]);
  expect((await received(service, browser, 4)).map(({ title }) => title)).toEqual(["first", "first", "refused", "second"]);
  // The browser has taken it back.
  service.answers.push({ status: 410 });
  await ann.call("notification.create", { title: "gone" });
  await expect.poll(state).toEqual([]);
});

stages("notification.push.subscribe:restart", async ({ ann, root, world, again }) => {
  const service = await startPushService();
  const key = "config/net/allowed_hosts";
  await root.call("sys.config.set", { key, value: "127.0.0.1" });
  const browser = service.makeBrowser();
  const { client } = await signIn(world, ann);
  const { subscription } = await client.call("notification.push.subscribe", { ...addressOf(browser), label: "x" });
  service.answers.push({ status: 503, headers: { "retry-after": "2" } });
  await ann.call("notification.create", { title: "as soon as possible" });
  await expect.poll(async () => (await listed(ann))[0]?.lastError).toContain("503");
  await world.host.restart();
  const [back, rootAgain] = [await again(), await world.root()];
  expect((await received(service, browser, 2)).map(({ title }) => title)).toEqual(["as soon as possible", "as soon as possible"]);
  await expect.poll(async () => (await listed(back))[0]?.lastError).toBeNull();
  await back.call("notification.push.unsubscribe", { subscriptionId: subscription.subscriptionId });
  await rootAgain.call("sys.config.set", { key, value: "" });
  await service.close();
});

pushes("notification.push.subscribe:read-before", async ({ ann, subscribe, service }) => {
  const { browser, client } = await subscribe(ann);
  service.answers.push({ status: 503, headers: { "retry-after": "1" } });
  const { notification } = await ann.call("notification.create", { title: "read elsewhere" });
  await expect.poll(async () => (await listed(client))[0]?.lastError).toContain("503");
  await ann.call("notification.mark_read", { notificationId: notification.notificationId });
  await ann.call("notification.create", { title: "news" });
  expect((await received(service, browser, 2)).map(({ title }) => title)).toEqual(["read elsewhere", "news"]);
});

pushes("notification.push.subscribe:answers", async ({ ann, subscribe, service, spawn, model, world, somebody }) => {
  const { browser } = await subscribe(ann);
  const other = await subscribe(await somebody());
  const agent = await spawn({ label: "Tidier" });
  model.on("tidy the attic", wants(["Shell", { input: "rm -r attic" }]), says("I was not allowed to."));
  const run = await agent.say("tidy the attic");
  await agent.asked();
  const [payload] = (await received(service, browser, 1)) as [PushPayload];
  expect(payload).toMatchObject({
    title: "Run a command on the gateway?",
    body: expect.stringMatching(/^rm -r attic\n.*\nAsked by Tidier$/),
    path: "/approvals",
  });
  expect(payload.question!.answers.map(({ decision, label }) => [decision, label])).toEqual([
    ["approve", "Allow"],
    ["deny", "Deny"],
  ]);
  expect(service.received[0]!.headers.urgency).toBe("high");
  for (const change of [
    { decision: "approve" },
    { requestId: ABSENT },
    { subscriptionId: other.subscription.subscriptionId },
    { subscriptionId: ABSENT },
    { proof: "AAAA" },
    { proof: "!" },
  ]) {
    const refused = await answerQuestion(world, payload, "deny", change);
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: { code: 401, message: "This answer was not accepted: answer in GSV" } },
    ]);
  }
  for (const body of ["", "{", "[]", "{}", "x".repeat(10_000)])
    expect((await fetch(`${world.host.url}/push/answer`, { method: "POST", body })).status).toBe(400);
  const denied = await answerQuestion(world, payload, "deny");
  expect([denied.status, await denied.json()]).toEqual([200, { ok: true }]);
  await agent.finished(run);
  const twice = await answerQuestion(world, payload, "approve");
  expect([twice.status, await twice.json()]).toEqual([
    409,
    { error: { code: 409, message: "This question was already answered: it is denied" } },
  ]);
  // The question of the same user's agent is no business of somebody else.
  expect(service.read(other.browser)).toEqual([]);

  model.on("clean up", wants(["Shell", { input: "rm -rf cellar" }]), says("It is clean."));
  const second = await agent.say("clean up");
  const [, asked] = (await received(service, browser, 2)) as [PushPayload, PushPayload];
  expect((await answerQuestion(world, asked, "approve")).status).toBe(200);
  await agent.finished(second);
  expect((await agent.result()).isError).toBe(false);
});

pushes("notification.push.subscribe:allow", async ({ ann, subscribe, service, spawn, model, world }) => {
  const [careful, whole] = [await subscribe(ann, { mayAllow: false }), await subscribe(ann)];
  const agent = await spawn();
  model.on("short", wants(["Shell", { input: "rm a" }]), says("ok"));
  await agent.say("short");
  const offered = async (browser: TestBrowser, count: number) =>
    (await received(service, browser, count)).at(-1)!.question!.answers.map(({ decision }) => decision);
  expect(await offered(careful.browser, 1)).toEqual(["deny"]);
  expect(await offered(whole.browser, 1)).toEqual(["approve", "deny"]);
  // Nor is what was offered before valid after it was turned off, or for a browser that is signed out.
  const [payload] = service.read(whole.browser) as [PushPayload];
  await ann.call("notification.push.update", { subscriptionId: whole.subscription.subscriptionId, mayAllow: false });
  expect((await answerQuestion(world, payload, "approve")).status).toBe(403);
  await ann.call("notification.push.update", { subscriptionId: whole.subscription.subscriptionId, mayAllow: true });
  await ann.call("sys.token.revoke", { tokenId: whole.tokenId });
  const refused = await answerQuestion(world, payload, "approve");
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: { code: 401, message: "This browser is signed out: sign in to GSV" } },
  ]);
  expect((await answerQuestion(world, service.read(careful.browser)[0]!, "deny")).status).toBe(200);
  const third = await subscribe(ann);
  // Nobody allows what they have not been shown whole.
  model.on("long", wants(["Shell", { input: `rm ${"x".repeat(200)}` }]), says("ok"));
  await agent.say("long");
  expect(await offered(third.browser, 1)).toEqual(["deny"]);
  expect((await answerQuestion(world, service.read(third.browser)[0]!, "deny")).status).toBe(200);
});

pushes("notification.push.list:own", async ({ ann, subscribe, somebody }) => {
  const first = await subscribe(ann, { label: "One" });
  await subscribe(ann, { label: "Two", level: "error" });
  expect((await listed(first.client)).map(({ label, isCurrent, level }) => [label, isCurrent, level])).toEqual([
    ["One", true, "all"],
    ["Two", false, "error"],
  ]);
  expect(await listed(await somebody())).toEqual([]);
});

pushes("notification.push.update:level", async ({ ann, subscribe, service, somebody }) => {
  const { browser, subscription, client } = await subscribe(ann);
  const { subscriptionId } = subscription;
  const changed = await client.call("notification.push.update", { subscriptionId, level: "warning", mayAllow: false });
  expect(changed.subscription).toEqual({ ...subscription, level: "warning", mayAllow: false });
  for (const level of ["info", "success", "warning", "error"] as const) await ann.call("notification.create", { title: level, level });
  expect((await received(service, browser, 2)).map(({ title }) => title)).toEqual(["warning", "error"]);
  const other = await somebody();
  const answers = await Promise.all(
    [subscriptionId, ABSENT].map((id) =>
      other.call("notification.push.update", { subscriptionId: id }).catch((error: Error) => error.message.replace(id, "ID")),
    ),
  );
  expect(answers).toEqual(["Push subscription not found: ID", "Push subscription not found: ID"]);
});

pushes("notification.push.unsubscribe:ends", async ({ ann, subscribe, service, somebody }) => {
  const [gone, kept] = [await subscribe(ann), await subscribe(ann)];
  const { subscriptionId } = gone.subscription;
  const other = await somebody();
  await expectRefusal(other.call("notification.push.unsubscribe", { subscriptionId }), 404, /^Push subscription not found/);
  expect(await kept.client.call("notification.push.unsubscribe", { subscriptionId })).toEqual({ ok: true });
  await expectRefusal(kept.client.call("notification.push.unsubscribe", { subscriptionId }), 404, /^Push subscription not found/);
  await ann.call("notification.create", { title: "x" });
  await received(service, kept.browser, 1);
  expect(service.read(gone.browser)).toEqual([]);
});

pushes("notification.push.test:says", async ({ ann, subscribe, service, somebody }) => {
  const { browser, subscription, client } = await subscribe(ann);
  const { subscriptionId } = subscription;
  expect(await client.call("notification.push.test", { subscriptionId })).toEqual({ error: null });
  expect(service.read(browser)).toMatchObject([{ notificationId: null, title: "Push messages work", path: "/notifications" }]);
  service.answers.push({ status: 403 });
  expect(await client.call("notification.push.test", { subscriptionId })).toEqual({ error: "The push service answered with HTTP 403" });
  await expectRefusal((await somebody()).call("notification.push.test", { subscriptionId }), 404, /^Push subscription not found/);
  await service.close();
  expect((await client.call("notification.push.test", { subscriptionId })).error).toEqual(expect.any(String));
});

stages("notification.settings.get:levels", async ({ somebody }) => {
  expect(await (await somebody()).call("notification.settings.get", {})).toEqual({ levels: ALL });
});

pushes("notification.settings.set:levels", async ({ subscribe, service, somebody }) => {
  const person = await somebody();
  const { browser, client } = await subscribe(person);
  expect(await client.call("notification.settings.set", { levels: { you: "error" } })).toEqual({ levels: { ...ALL, you: "error" } });
  expect(await person.call("notification.settings.get", {})).toEqual({ levels: { ...ALL, you: "error" } });
  for (const level of ["info", "warning", "error"] as const) await person.call("notification.create", { title: level, level });
  expect((await received(service, browser, 1)).map(({ title }) => title)).toEqual(["error"]);
  expect((await person.call("notification.list", {})).notifications.length).toBe(3);
  await expectRefusal(client.call("notification.settings.set", { levels: { strangers: "all" } } as never), 400, /levels/);
});
