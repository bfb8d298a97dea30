// Notifications: how long they live, and those of the kernel about questions and machines, which go when what they are about is over.

import { beforeEach, describe, expect, it } from "vitest";
import type { NotificationRecord } from "../../src/protocol/notification-records.ts";
import type { Data } from "./requests.ts";
import { DAY_MS, INIT, listNotifications, MINUTE_MS, SECOND_MS } from "./scheduling.ts";
import { TimedWorld } from "./timed-world.ts";

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

const EVERYTHING = { includeDismissed: true };

type Answer = { notification: NotificationRecord | null };

async function create(args: Data = {}): Promise<NotificationRecord> {
  return (await world.call<Answer>("notification.create", { title: "The backup is done", ...args })).notification!;
}

async function change(call: "mark_read" | "dismiss", { notificationId }: { notificationId: string }): Promise<NotificationRecord | null> {
  return (await world.call<Answer>(`notification.${call}`, { notificationId })).notification;
}

describe("a notification", () => {
  it.each([
    [undefined, 30 * DAY_MS],
    [10 * MINUTE_MS, 10 * MINUTE_MS],
    [5, SECOND_MS],
    [-1, SECOND_MS],
    [1_000 * DAY_MS, 90 * DAY_MS],
  ])("with ttlMs %s expires after %s ms, and is then gone for everybody", async (ttlMs, livesMs) => {
    const one = await create(ttlMs === undefined ? {} : { ttlMs });
    expect(one.expiresAt! - one.createdAt).toBe(livesMs);
    await world.passTo(one.expiresAt! - 100);
    expect(await listNotifications(world)).toMatchObject([{ notificationId: one.notificationId }]);
    await world.passTo(one.expiresAt!);
    expect(await listNotifications(world, EVERYTHING)).toEqual([]);
    expect([await change("mark_read", one), await change("dismiss", one)]).toEqual([null, null]);
  });

  it("that was read expires a week after it was read last, and is read since the first time", async () => {
    const one = await create();
    const read = (await change("mark_read", one))!;
    expect([read.expiresAt! - read.readAt!, read.dismissedAt]).toEqual([7 * DAY_MS, null]);
    await world.pass(DAY_MS);
    const again = (await change("mark_read", one))!;
    expect(again).toEqual({ ...read, expiresAt: expect.any(Number) });
    expect(again.expiresAt! - read.expiresAt!).toBeGreaterThanOrEqual(DAY_MS);
    expect(await listNotifications(world)).toEqual([again]);
    expect(await listNotifications(world, { includeRead: false })).toEqual([]);
    await world.passTo(again.expiresAt! - 100);
    expect(await listNotifications(world)).toEqual([again]);
    await world.passTo(again.expiresAt!);
    expect(await listNotifications(world, EVERYTHING)).toEqual([]);
  });

  it("that was dismissed and is then read stays dismissed, and does not live longer", async () => {
    const one = await create();
    const dismissed = (await change("dismiss", one))!;
    await world.pass(DAY_MS);
    const read = (await change("mark_read", one))!;
    expect(read).toEqual({ ...dismissed, readAt: expect.any(Number) });
    expect(await listNotifications(world)).toEqual([]);
  });

  it("that was dismissed is left out of lists and expires three days later", async () => {
    const one = await create();
    await change("mark_read", one);
    const dismissed = (await change("dismiss", one))!;
    expect(dismissed.expiresAt! - dismissed.dismissedAt!).toBe(3 * DAY_MS);
    expect(await change("dismiss", one)).toEqual(dismissed);
    expect(await listNotifications(world)).toEqual([]);
    expect(await listNotifications(world, EVERYTHING)).toEqual([dismissed]);
    await world.passTo(dismissed.expiresAt!);
    expect(await listNotifications(world, EVERYTHING)).toEqual([]);
  });

  it("survives a crash as it was acknowledged, and its row goes with the sweep after it has expired", async () => {
    const [kept, read, dismissed] = [await create(), await create(), await create()];
    await change("mark_read", read);
    await change("dismiss", dismissed);
    const before = await listNotifications(world, EVERYTHING);
    world.crash();
    await world.start();
    expect(await listNotifications(world, EVERYTHING)).toEqual(before);
    expect(before.length).toBe(3);
    await world.passTo(kept.expiresAt! + 2 * DAY_MS);
    expect(world.sql.inspect("SELECT * FROM notifications")).toEqual([]);
  });

  it("is told to all connections of its user, and to nobody else", async () => {
    const other = await world.enter("alice", { password: "alice first" }, { id: "phone" });
    const one = await create();
    await change("mark_read", one);
    await change("dismiss", one);
    await world.pass(10);
    const signals = (socketId: string) =>
      (world.heard.get(socketId) as unknown as { signal?: string }[])
        .flatMap(({ signal }) => signal ?? [])
        .filter((one) => one.startsWith("notif"));
    const expected = ["notification.created", "notification.updated", "notification.dismissed"];
    expect([signals(world.alice), signals(other), signals(world.root)]).toEqual([expected, expected, []]);
  });
});

describe("a question of an agent", () => {
  type Pending = { pending: { requestId: string }[] };

  /** Asks in the init process. Returns the id of the question. */
  const ask = async (): Promise<string> => {
    await world.call("proc.send", { message: "this asks for something" });
    const [question] = await world.passUntil(async () => {
      const { pending } = await world.call<Pending>("proc.approval.list");
      return pending.length > 0 && pending;
    }, "a question");
    return question!.requestId;
  };

  it("is a notification that shows the whole call and can be answered from there", async () => {
    const requestId = await ask();
    const [one, ...others] = await listNotifications(world);
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      title: "Run a command on the gateway?",
      body: expect.stringMatching(/^rm -rf everything\n.*\nAsked by Personal agent$/),
      level: "warning",
      source: { kind: "kernel", topic: "approvals", processId: INIT },
    });
    expect(one!.actions).toEqual([
      { kind: "open", label: "Open", target: `/chat/${encodeURIComponent(INIT)}` },
      { kind: "approve", label: "Allow", target: requestId },
      { kind: "deny", label: "Deny", target: requestId },
    ]);
  });

  it("names its agent, and the schedule that started the run", async () => {
    await world.call("sched.add", {
      name: "Tidy up",
      expression: { kind: "after", afterMs: 60_000 },
      target: { kind: "process.event", pid: INIT, message: "this asks for something" },
    });
    await world.pass(60_000);
    type Asked = { pending: { title: string; askedBy: { agent: string; schedule: { name: string } | null } }[] };
    const read = async () => (await world.call<Asked>("proc.approval.list")).pending;
    const [scheduled] = await world.passUntil(async () => ((await read()).length > 0 ? read() : false), "a question");
    expect(scheduled).toMatchObject({
      title: "Run a command on the gateway",
      askedBy: { agent: "Personal agent", schedule: { id: expect.any(String), name: "Tidy up" } },
    });
  });

  it.each(["approve", "deny"])("is not a notification any more after the answer %s", async (decision) => {
    const requestId = await ask();
    await world.call("proc.hil", { requestId, decision });
    expect(await listNotifications(world)).toEqual([]);
    expect(await listNotifications(world, EVERYTHING)).toMatchObject([{ dismissedAt: expect.any(Number) }]);
  });

  it("is not a notification any more when its run is stopped", async () => {
    await ask();
    await world.call("proc.abort");
    await world.pass(SECOND_MS);
    expect(await listNotifications(world)).toEqual([]);
  });

  it("is not a notification any more when it has expired", async () => {
    await ask();
    const [one] = await listNotifications(world);
    await world.passTo(one!.expiresAt! + MINUTE_MS);
    expect(await listNotifications(world)).toEqual([]);
    expect((await world.call<Pending>("proc.approval.list")).pending).toEqual([]);
  });

  it("is one notification, also after a crash", async () => {
    await ask();
    const before = await listNotifications(world);
    world.crash();
    await world.start();
    await world.pass(MINUTE_MS);
    expect(await listNotifications(world)).toEqual(before);
  });
});

describe("a machine", () => {
  let token: string;
  let socketId: string;

  beforeEach(async () => {
    const made = await world.call<{ token: { token: string } }>("sys.token.create", { kind: "node", label: "laptop" });
    token = made.token.token;
    await connect();
  });

  async function connect(): Promise<void> {
    socketId = await world.enter("alice", { token }, { id: "laptop", role: "driver" });
  }

  const titles = async () => (await listNotifications(world)).map(({ title }) => title);

  it("that is gone for ten minutes is a notification, until it returns", async () => {
    world.cut(socketId);
    await world.pass(9 * MINUTE_MS);
    expect(await titles()).toEqual([]);
    await world.pass(90 * SECOND_MS);
    expect(await titles()).toEqual(["laptop is offline"]);
    await world.pass(DAY_MS);
    expect(await titles()).toEqual(["laptop is offline"]);
    await connect();
    expect(await titles()).toEqual([]);
    expect(await listNotifications(world, EVERYTHING)).toMatchObject([{ dismissedAt: expect.any(Number) }]);
  });

  it("that is removed is not a notification any more", async () => {
    world.cut(socketId);
    await world.pass(11 * MINUTE_MS);
    expect(await titles()).toEqual(["laptop is offline"]);
    await world.call("sys.device.remove", { deviceId: "laptop" });
    expect(await titles()).toEqual([]);
    expect(await listNotifications(world, EVERYTHING)).toMatchObject([{ dismissedAt: expect.any(Number) }]);
  });

  it("that is removed while it is gone leaves nothing to wake for", async () => {
    world.cut(socketId);
    await world.pass(MINUTE_MS);
    const timers = () => world.sql.inspect("SELECT kind FROM timers WHERE kind = 'device-gone'").length;
    expect(timers()).toBe(1);
    await world.call("sys.device.remove", { deviceId: "laptop" });
    expect(timers()).toBe(0);
    await world.pass(11 * MINUTE_MS);
    expect(await listNotifications(world, EVERYTHING)).toEqual([]);
  });

  it("that returns within ten minutes is none", async () => {
    for (let time = 0; time < 5; time++) {
      world.cut(socketId);
      await world.pass(9 * MINUTE_MS);
      await connect();
    }
    // The first of those times has passed.
    await world.pass(5 * MINUTE_MS);
    world.cut(socketId);
    await world.pass(9 * MINUTE_MS);
    expect(await listNotifications(world, EVERYTHING)).toEqual([]);
  });

  it("that does not return after a restart of the gateway is a notification, also after another one", async () => {
    await world.restart(DAY_MS);
    await world.pass(5 * MINUTE_MS);
    expect(await titles()).toEqual([]);
    await world.restart();
    await world.pass(11 * MINUTE_MS);
    expect(await titles()).toEqual(["laptop is offline"]);
  });
});
