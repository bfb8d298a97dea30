// notification.*: what people are told, by whom, and for how long.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import type { Arguments, CallResult } from "../../../src/client/connection.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { says, wants } from "../../support/models/scripted.ts";
import type { AnyFrame } from "../../support/raw-socket.ts";
import { stages } from "../stage.ts";
import { expectRefusal, verifies } from "../verifies.ts";

type Notification = CallResult<"notification.create">["notification"];
type Told = { signal: string; notification: Notification };

const ABSENT = "00000000-0000-4000-8000-000000000000";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DAY_MS = 24 * 3_600_000;

async function create(client: Client, args: Partial<Arguments<"notification.create">> = {}): Promise<Notification> {
  return (await client.call("notification.create", { title: "Test", ...args })).notification;
}

async function list(client: Client, args: Arguments<"notification.list"> = {}): Promise<Notification[]> {
  return (await client.call("notification.list", args)).notifications;
}

/** What a client is told of notifications, oldest first; without those about machines of earlier cases, which come when they come. */
function listen(client: Client): Told[] {
  const told: Told[] = [];
  client.onSignal(({ signal, payload }) => {
    if (!signal.startsWith("notification.")) return;
    const { notification } = payload as { notification: Notification };
    if (notification.source.kind !== "kernel" || notification.source.topic !== "devices") told.push({ signal, notification });
  });
  return told;
}

verifies("notification.create:defaults", async ({ alice }) => {
  const [client, second] = [await alice(), await alice()];
  const heard = [listen(client), listen(second)];
  const notification = await create(client, { title: "  The backup is done  " });
  const { notificationId, createdAt } = notification;
  expect(notification).toEqual({
    notificationId: expect.stringMatching(UUID),
    title: "The backup is done",
    level: "info",
    createdAt: expect.any(Number),
    readAt: null,
    dismissedAt: null,
    expiresAt: createdAt + 30 * DAY_MS,
    actions: [],
    source: { kind: "user" },
  });
  for (const told of heard) await expect.poll(() => told).toEqual([{ signal: "notification.created", notification }]);
  expect((await list(client)).find((one) => one.notificationId === notificationId)).toEqual(notification);
  for (const level of ["info", "success", "warning", "error"] as const)
    expect(await create(client, { level, body: " text " })).toMatchObject({ level, body: "text" });
});

verifies("notification.create:validates", async ({ alice }) => {
  const client = await alice();
  const refused = (args: object, message: string | RegExp) =>
    expectRefusal(client.call("notification.create", { title: "x", ...args }), 400, message);
  for (const title of [undefined, "", " \n "]) await refused({ title }, "title is required");
  await refused({ title: "x".repeat(201) }, /^title must be at most 200/);
  await refused({ body: "x".repeat(20_000) }, /^body must be at most \d+ characters/);
  await refused({ level: "fatal" }, /^level must be one of/);
  for (const ttlMs of ["1", null]) await refused({ ttlMs }, /^ttlMs /);
  for (const actions of ["open", ["open"], [null]]) await refused({ actions }, /^actions(?:\.0)? must be /);
  for (const body of [undefined, "", "  "]) expect(await create(client, body === undefined ? {} : { body })).not.toHaveProperty("body");
});

verifies("notification.create:ttl", async ({ alice }) => {
  const client = await alice();
  for (const [ttlMs, lives] of [
    [0, 1_000],
    [-5, 1_000],
    [999, 1_000],
    [5_000.5, 5_000],
    [DAY_MS, DAY_MS],
    [90 * DAY_MS, 90 * DAY_MS],
    [1e15, 90 * DAY_MS],
  ] as const) {
    const { createdAt, expiresAt } = await create(client, { ttlMs });
    expect([ttlMs, expiresAt! - createdAt]).toEqual([ttlMs, lives]);
  }
});

verifies("notification.create:actions", async ({ alice }) => {
  const client = await alice();
  const open = { kind: "open", label: "Open", target: "/chat/init:1000" };
  const made = await create(client, {
    actions: [
      { ...open, kind: " open ", label: " Open ", color: "red" },
      { kind: "", label: "No kind" },
      { kind: "open", label: "  " },
      { label: "No kind" },
      { kind: "open" },
      { kind: 7, label: "x" },
      // Only the gateway says what is approved.
      { kind: "approve", label: "Allow", target: "q" },
      { kind: " Deny ", label: "Deny", target: "q" },
      { kind: "custom", label: "Do", args: { a: [1] } },
    ],
  });
  expect(made.actions).toEqual([open, { kind: "custom", label: "Do", args: { a: [1] } }]);
  const many = await create(client, { actions: Array.from({ length: 9 }, (_, at) => ({ kind: "open", label: String(at) })) });
  expect(many.actions.map(({ label }) => label)).toEqual(["0", "1", "2", "3", "4"]);
  expect(await list(client, { limit: 2 })).toEqual(expect.arrayContaining([many]));
});

stages("notification.create:source", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const heard = listen(ann);
  const input = "notify send --title 'It is done' --body 'All of it.' --level success";
  model.on("Tell me.", wants(["Shell", { target: "gsv", input }]), says("Told."));
  await agent.ask("Tell me.");
  // No approval is needed: an agent may tell its user something.
  expect(agent.of("proc.run.hil.requested")).toEqual([]);
  await expect.poll(() => heard).toHaveLength(1);
  expect(heard[0]).toMatchObject({
    signal: "notification.created",
    notification: { title: "It is done", body: "All of it.", level: "success", source: { kind: "process", processId: agent.pid } },
  });
  expect(await list(ann)).toContainEqual(heard[0]!.notification);
  // A claim of another source is dropped like any unknown argument.
  const claim = { title: "Mine", source: { kind: "kernel", topic: "approvals" } };
  expect((await ann.call("notification.create", claim as { title: string })).notification.source).toEqual({ kind: "user" });
});

stages("notification.create:kernel", async ({ spawn, model, ann }) => {
  const agent = await spawn();
  const heard = listen(ann);
  const path = `${ann.session.identity.process.home}/asked.txt`;
  await ann.call("fs.write", { path, content: "x" });
  model.on("Delete it.", wants(["Delete", { target: "gsv", path }]), says("Gone."));
  const runId = await agent.say("Delete it.");
  const { requestId } = await agent.asked();
  await expect.poll(() => heard).toHaveLength(1);
  const { signal, notification } = heard[0]!;
  expect(signal).toBe("notification.created");
  expect(notification).toMatchObject({
    level: "warning",
    body: expect.stringContaining(path),
    source: { kind: "kernel", topic: "approvals", processId: agent.pid },
    actions: [
      { kind: "open", target: `/chat/${agent.pid}` },
      { kind: "approve", target: requestId },
      { kind: "deny", target: requestId },
    ],
  });
  expect(await list(ann)).toContainEqual(notification);
  // An agent cannot hide it.
  const other = await spawn();
  const { notificationId } = notification;
  for (const word of ["read", "dismiss"]) {
    model.on(`${word}!`, wants(["Shell", { target: "gsv", input: `notify ${word} ${notificationId}` }]), says("Tried."));
    await other.ask(`${word}!`);
    expect(await other.result()).toMatchObject({ isError: true, output: expect.stringContaining("cannot hide") });
  }
  expect(heard).toHaveLength(1);
  await agent.answer(requestId, "approve");
  await agent.finished(runId);
  await expect.poll(() => heard).toHaveLength(2);
  expect(heard[1]).toMatchObject({ signal: "notification.dismissed", notification: { notificationId } });
  expect((await list(ann)).filter((one) => one.notificationId === notificationId)).toEqual([]);
});

verifies("notification.create:receivers", async ({ alice, bob, root, raw }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const heard = listen(client);
  const foreign = [listen(other), listen(admin)];
  const { uid, username } = client.session.identity.process;
  /** A socket of this user that is no person. */
  const join = async (kind: "node" | "service", role: string) => {
    const { token } = await admin.call("sys.token.create", { kind, uid });
    const socket = await raw();
    const joined = await socket.call("sys.connect", {
      protocol: 1,
      client: { id: `${kind}-of-notices`, version: "0", platform: "test", role, channel: "test" },
      driver: { implements: ["fs.read"] },
      auth: { username, token: token.token },
    });
    expect(joined).toMatchObject({ ok: true });
    return socket;
  };
  const [device, service] = [await join("node", "driver"), await join("service", "service")];
  const { notificationId } = await create(client, { title: "Only for people" });
  await client.call("notification.mark_read", { notificationId });
  await client.call("notification.dismiss", { notificationId });
  await expect
    .poll(() => heard.map(({ signal }) => signal))
    .toEqual(["notification.created", "notification.updated", "notification.dismissed"]);
  // What comes after it arrives, and nothing before that was a notification.
  const read = client.call("fs.read", { target: "node-of-notices", path: "x" }).catch(() => null);
  for (let frame: AnyFrame = await device.frame(); frame.type !== "req"; frame = await device.frame())
    expect(frame.signal).not.toMatch(/^notification\./);
  service.sendFrame({ type: "req", id: "last", call: "sys.info", args: {} });
  for (let frame: AnyFrame = await service.frame(); frame.id !== "last"; frame = await service.frame())
    expect(frame.signal).not.toMatch(/^notification\./);
  await create(other, { title: "For bob" });
  await create(admin, { title: "For root" });
  for (const told of foreign) await expect.poll(() => told).toHaveLength(1);
  expect(foreign.map(([told]) => told!.notification.title)).toEqual(["For bob", "For root"]);
  expect(heard).toHaveLength(3);
  device.terminate();
  await read;
  await client.call("sys.device.remove", { deviceId: "node-of-notices" });
});

stages("notification.list:filters", async ({ somebody }) => {
  const person = await somebody();
  const made: Notification[] = [];
  for (const title of ["Unread", "Read", "Dismissed", "Both"]) made.push(await create(person, { title }));
  const [unread, read, dismissed, both] = made.map(({ notificationId }) => notificationId) as [string, string, string, string];
  for (const notificationId of [read, both]) await person.call("notification.mark_read", { notificationId });
  for (const notificationId of [dismissed, both]) await person.call("notification.dismiss", { notificationId });
  const ids = async (args?: Arguments<"notification.list">) =>
    new Set((await list(person, args)).map(({ notificationId }) => notificationId));
  expect(await ids()).toEqual(new Set([unread, read]));
  expect(await ids({ includeRead: false })).toEqual(new Set([unread]));
  expect(await ids({ includeDismissed: true })).toEqual(new Set([unread, read, dismissed, both]));
  expect(await ids({ includeRead: false, includeDismissed: true })).toEqual(new Set([unread, dismissed]));
  const times = (await list(person, { includeDismissed: true })).map(({ createdAt }) => createdAt);
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect((await person.call("notification.list", {})).unreadCount).toBe(1);
});

stages("notification.list:limit", async ({ somebody }) => {
  const person = await somebody();
  await Promise.all(Array.from({ length: 501 }, (_, at) => create(person, { title: String(at) })));
  const ids = async (args: Arguments<"notification.list">) => (await list(person, args)).map(({ notificationId }) => notificationId);
  const all = await ids({ limit: 1e9 });
  expect(all).toHaveLength(500);
  expect(await ids({})).toEqual(all.slice(0, 100));
  for (const limit of [0, -5, 1.9]) expect(await ids({ limit })).toEqual(all.slice(0, 1));
  expect((await person.call("notification.list", { limit: 1 })).unreadCount).toBe(501);
});

verifies(
  "notification.list:expired",
  async ({ bob }) => {
    const client = await bob();
    const { notificationId } = await create(client, { ttlMs: 1_000 });
    const isThere = async () => (await list(client, { includeDismissed: true })).some((one) => one.notificationId === notificationId);
    expect(await isThere()).toBe(true);
    while (await isThere()) await sleep(100, new AbortController().signal);
    for (const call of ["notification.mark_read", "notification.dismiss"] as const)
      expect(await client.call(call, { notificationId })).toEqual({ notification: null });
    expect(await isThere()).toBe(false);
  },
  { waits: true },
);

verifies("notification.mark_read:week", async ({ alice }) => {
  const [client, second] = [await alice(), await alice()];
  const heard = [listen(client), listen(second)];
  const made = await create(client, { ttlMs: 60_000 });
  const { notificationId } = made;
  const { notification } = await client.call("notification.mark_read", { notificationId });
  expect(notification).toEqual({ ...made, readAt: expect.any(Number), expiresAt: notification!.readAt! + 7 * DAY_MS });
  // Again: it is read since the first time, and its week begins again.
  const { notification: again } = await client.call("notification.mark_read", { notificationId });
  expect(again).toEqual({ ...notification, expiresAt: expect.any(Number) });
  expect(again!.expiresAt).toBeGreaterThanOrEqual(notification!.expiresAt!);
  for (const told of heard)
    await expect
      .poll(() => told.slice(0, 3))
      .toEqual([
        { signal: "notification.created", notification: made },
        { signal: "notification.updated", notification },
        { signal: "notification.updated", notification: again },
      ]);
  expect((await list(client)).find((one) => one.notificationId === notificationId)).toEqual(again);
});

verifies("notification.mark_read:null", async ({ alice, bob, root }) =>
  checkForeign("notification.mark_read", [await alice(), await bob(), await root()]),
);

verifies("notification.dismiss:three-days", async ({ alice }) => {
  const [client, second] = [await alice(), await alice()];
  const heard = [listen(client), listen(second)];
  const made = await create(client);
  const { notificationId } = made;
  const { notification } = await client.call("notification.dismiss", { notificationId });
  expect(notification).toEqual({ ...made, dismissedAt: expect.any(Number), expiresAt: notification!.dismissedAt! + 3 * DAY_MS });
  expect(await client.call("notification.dismiss", { notificationId })).toEqual({ notification });
  // Reading it later does not make it live longer.
  const { notification: read } = await client.call("notification.mark_read", { notificationId });
  expect(read).toEqual({ ...notification, readAt: expect.any(Number) });
  for (const told of heard)
    await expect
      .poll(() => told.slice(0, 2))
      .toEqual([
        { signal: "notification.created", notification: made },
        { signal: "notification.dismissed", notification },
      ]);
  expect((await list(client)).filter((one) => one.notificationId === notificationId)).toEqual([]);
});

verifies("notification.dismiss:null", async ({ alice, bob, root }) =>
  checkForeign("notification.dismiss", [await alice(), await bob(), await root()]),
);

/** A notification is its user's alone: not even root has it. */
async function checkForeign(call: "notification.mark_read" | "notification.dismiss", [owner, ...others]: Client[]): Promise<void> {
  const made = await create(owner!);
  const told = [owner!, ...others].map(listen);
  for (const client of [owner!, ...others]) expect(await client.call(call, { notificationId: ABSENT })).toEqual({ notification: null });
  for (const client of others) expect(await client.call(call, { notificationId: made.notificationId })).toEqual({ notification: null });
  expect((await list(owner!)).find(({ notificationId }) => notificationId === made.notificationId)).toEqual(made);
  for (const client of others)
    expect((await list(client)).filter(({ notificationId }) => notificationId === made.notificationId)).toEqual([]);
  await expectRefusal(owner!.call(call, { notificationId: "" }), 400, /^notificationId /);
  expect(told.flat().filter(({ signal }) => signal !== "notification.created")).toEqual([]);
}

stages("shell.exec:notify", async ({ somebody }) => {
  const person = await somebody();
  const shell = (input: string) => person.call("shell.exec", { input });
  const sent = await shell("notify send --title 'It is done' --body 'All of it.' --level warning --ttl-ms 60000; notify send --title Two");
  const [first, second] = sent.output.trim().split("\n") as [string, string];
  const [two, one] = (await list(person)).toSorted((a, b) => b.title.localeCompare(a.title));
  expect(one).toMatchObject({ notificationId: first, title: "It is done", body: "All of it.", level: "warning", source: { kind: "user" } });
  expect(one!.expiresAt! - one!.createdAt).toBe(60_000);
  expect(two).toMatchObject({ notificationId: second, title: "Two", level: "info" });
  expect((await shell("notify send --title")).status).toBe("failed");
  expect((await shell(`notify read ${first} && notify mark-read ${first}`)).status).toBe("completed");
  const unread = await shell("notify list --unread");
  expect(unread.output).toContain("Two");
  expect(unread.output).not.toContain("It is done");
  expect((await shell(`notify dismiss ${second}`)).status).toBe("completed");
  const both = await shell("notify list");
  expect(both.output).toContain("It is done");
  expect(both.output).not.toContain("Two");
  expect((await shell("notify list --dismissed")).output).toContain("Two");
  expect((await shell("notify list --dismissed --limit 1")).output.trimEnd().split("\n")).toHaveLength(2);
  expect((await shell(`notify dismiss ${ABSENT}`)).status).toBe("failed");
  // What cannot be done says why; what is shortened shows that it is; --all is more than a page.
  expect((await shell("notify send")).output).toMatch(/^notify: say what: notify send /);
  expect(await shell("notify read nothing")).toMatchObject({
    exitCode: 1,
    output: "notify: no notification nothing: notify list shows yours\n",
  });
  await create(person, { title: "Long", body: "word ".repeat(50) });
  expect((await shell("notify list --limit 1")).output).toMatch(/ word wor?d?…\n$/);
  await Promise.all(Array.from({ length: 500 }, (_, at) => create(person, { title: String(at) })));
  expect((await shell("notify dismiss --all")).output).toBe("502 dismissed\n");
  expect((await shell("notify dismiss --all")).output).toBe("0 dismissed\n");
});
