// Bugs that the simulator and the property tests found, each as its shortest reproduction.

import { beforeEach, describe, expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { connectArgs, Desk } from "./desk.ts";

let desk: Desk;

beforeEach(async () => {
  desk = await Desk.populated();
});

describe("a driver that connects while something else happens", () => {
  const laptop = { id: "laptop", role: "driver" };
  let token: { token: string; tokenId: string };
  let alice: string;

  beforeEach(async () => {
    alice = await desk.enter("alice", { password: "alice first" });
    token = (await desk.call(alice, "sys.token.create", { kind: "node" })).data!.token as typeof token;
  });

  it("does not get in with a token that is revoked during its login", async () => {
    const socketId = desk.open();
    desk.ask(socketId, "sys.connect", connectArgs("alice", { token: token.token }, laptop));
    await desk.pass(0);
    desk.ask(alice, "sys.token.revoke", { tokenId: token.tokenId });
    await desk.quiet();
    expect(desk.sql.get("SELECT * FROM connections WHERE connection_id = ?", socketId)).toBeUndefined();
  });

  it("leaves no row when its connection is cut meanwhile", async () => {
    const socketId = desk.open();
    desk.ask(socketId, "sys.connect", connectArgs("alice", { token: token.token }, laptop));
    await desk.pass(0);
    desk.sockets.cut(socketId);
    await desk.quiet();
    expect(desk.sql.all("SELECT connection_id FROM connections WHERE connection_id = ?", socketId)).toEqual([]);
    expect(desk.sql.get("SELECT connection_id FROM devices")?.connection_id ?? null).toBeNull();
  });

  it("gets one identity however often it calls sys.connect", async () => {
    const socketId = desk.open();
    const ids = [1, 2].map(() => desk.ask(socketId, "sys.connect", connectArgs("alice", { token: token.token }, laptop)));
    await desk.quiet();
    expect(ids.filter((id) => desk.answer(socketId, id)?.ok === true).length).toBe(1);
    expect(desk.closed.has(socketId)).toBe(false);
  });

  it("is offline after a crash, even if its connection was removed before", async () => {
    await desk.enter("alice", { token: token.token }, laptop);
    desk.ask(alice, "sys.token.revoke", { tokenId: token.tokenId });
    desk.sql.commit();
    desk.crash();
    expect(desk.sql.get("SELECT connection_id FROM devices")?.connection_id).toBeNull();
  });
});

describe("a stranger", () => {
  it("that does not complete the close handshake does not wake the kernel repeatedly", async () => {
    const socketId = desk.open();
    await desk.pass(LIMITS.handshakeMs + 1);
    expect(desk.closed.get(socketId) ?? "").toContain("Not authenticated in time");
    const before = desk.wakes;
    await desk.pass(1_000);
    expect(desk.wakes - before).toBeLessThan(5);
  });

  it("that is being closed gets no identity", async () => {
    const socketId = desk.open();
    await desk.pass(LIMITS.handshakeMs - 50);
    desk.ask(socketId, "sys.connect", connectArgs("alice", { password: "alice first" }));
    await desk.pass(51);
    expect(desk.closed.has(socketId)).toBe(true);
    desk.ask(socketId, "sys.connect", connectArgs("alice", { password: "alice first" }));
    await desk.quiet();
    expect(desk.sql.all("SELECT * FROM connections")).toEqual([]);
  });

  it("is disconnected in time after memory was lost", async () => {
    const sockets: string[] = [];
    for (let i = 0; i < 6; i++) {
      sockets.push(desk.open());
      await desk.pass(1_000);
    }
    desk.hibernate();
    await desk.pass(LIMITS.handshakeMs - 6_000 + 100);
    expect(desk.closed.has(sockets[0]!)).toBe(true);
  });
});

describe("a request that waits while its caller loses the right to make it", () => {
  it("does not undo a lock through a pending password change", async () => {
    const alice = await desk.enter("alice", { password: "alice first" });
    const root = await desk.enter("root", { password: "root first" });
    desk.ask(alice, "sys.user.password", { current: "alice first", password: "alice second" });
    await desk.pass(120);
    desk.ask(root, "sys.user.lock", { username: "alice", locked: true });
    await desk.quiet();
    expect(String(desk.sql.get("SELECT hash FROM shadow WHERE username = 'alice'")?.hash)).toMatch(/^!/);
  });

  it("does not replace a password that root has set meanwhile", async () => {
    const first = await desk.enter("alice", { password: "alice first" });
    const { token } = (await desk.call(first, "sys.token.create", { kind: "user" })).data!.token as { token: string };
    const alice = await desk.enter("alice", { token }, { id: "by token" });
    const root = await desk.enter("root", { password: "root first" });
    const id = desk.ask(alice, "sys.user.password", { current: "alice first", password: "alice second" });
    await desk.pass(60);
    desk.ask(root, "sys.user.password", { username: "alice", password: "root's choice" });
    await desk.quiet();
    expect(desk.answer(alice, id)?.error?.code).toBe(401);
    await desk.enter("alice", { password: "root's choice" });
  });

  it("does not add a user after the right to add users was revoked", async () => {
    const root = await desk.enter("root", { password: "root first" });
    await desk.call(root, "sys.capability.grant", { gid: 100, capability: "sys.user.create" });
    const alice = await desk.enter("alice", { password: "alice first" });
    const id = desk.ask(alice, "sys.user.create", { username: "mallory", password: "mallory first" });
    desk.ask(root, "sys.capability.revoke", { gid: 100, capability: "sys.user.create" });
    await desk.quiet();
    expect(desk.answer(alice, id)?.error?.code).toBe(403);
    expect(desk.sql.get("SELECT 1 FROM passwd WHERE username = 'mallory'")).toBeUndefined();
  });
});

describe("a batch that is lost", () => {
  it("is reported to the stranger who waits for sys.setup", async () => {
    const fresh = new Desk();
    fresh.sql.commit();
    const socketId = fresh.open();
    const id = fresh.ask(socketId, "sys.setup", { username: "alice", password: "alice first" });
    await fresh.pass(250);
    fresh.sql.commit("full");
    expect(fresh.answer(socketId, id)?.error?.code).toBe(507);
    expect(fresh.closed.has(socketId)).toBe(false);
  });

  it("does not restore a connection whose socket is gone", async () => {
    const alice = await desk.enter("alice", { password: "alice first" });
    const root = await desk.enter("root", { password: "root first" });
    desk.sql.commit();
    desk.sockets.cut(alice);
    await desk.pass(1);
    desk.ask(root, "sys.config.set", { key: "config/a", value: "1" });
    desk.sql.commit("full");
    await desk.quiet();
    expect(desk.sql.all("SELECT connection_id FROM connections").map((row) => row.connection_id)).toEqual([root]);
  });

  it("is reported even to a request whose id is a question mark", async () => {
    const root = await desk.enter("root", { password: "root first" });
    desk.ask(root, "sys.config.set", { key: "config/a", value: "1" }, { id: "?" });
    desk.sql.commit("full");
    expect(desk.answer(root, "?")?.error?.code).toBe(507);
  });
});

it("a process is marked busy whose mark was lost while its host was opening it", async () => {
  let accept: (result: object) => void = () => {};
  const calls: string[] = [];
  desk = await Desk.populated(() => ({
    call: (_pid, name) => {
      calls.push(name);
      if (name === "send") return new Promise((resolve) => (accept = resolve));
      return Promise.resolve(name === "state" ? { activeRunId: "run", runnableCount: 0 } : {});
    },
  }));
  const alice = await desk.enter("alice", { password: "alice first" });
  const isBusy = () => desk.sql.get("SELECT busy FROM processes WHERE pid = 'init:1000'")?.busy;
  const id = desk.ask(alice, "proc.send", { message: "hello" });
  await desk.pass(1);
  expect([calls.at(-1), isBusy()]).toEqual(["send", 1]);
  desk.sql.commit("full");
  expect([desk.answer(alice, id), isBusy()]).toEqual([undefined, 0]);
  accept({ ok: true, status: "started", runId: "run" });
  await desk.quiet();
  expect([desk.answer(alice, id)?.ok, calls.at(-1), isBusy()]).toEqual([true, "state", 1]);
});

describe("arguments that pass the schema but not the table", () => {
  it.each([
    ["sys.token.create", { kind: "user", expiresAt: 1_800_000_000_000.5 }],
    ["sys.token.create", { kind: "user", expiresAt: 1e300 }],
    ["sys.config.set", { key: "config/a", value: "€".repeat(LIMITS.configValueBytes) }],
    ["sys.config.set", { key: "config/a_secret", value: "é".repeat(LIMITS.configValueBytes) }],
  ])("%s is refused with 400 and no incident (%#)", async (call, args) => {
    const root = await desk.enter("root", { password: "root first" });
    expect((await desk.call(root, call, args)).error?.code).toBe(400);
    expect(desk.incidents).toEqual([]);
  });
});

it("a user in more than a hundred groups can still be served", async () => {
  const root = await desk.enter("root", { password: "root first" });
  const alice = await desk.enter("alice", { password: "alice first" });
  for (let i = 0; i < 110; i++) {
    const { data } = await desk.call(root, "sys.group.create", { name: `g${i}` });
    await desk.call(root, "sys.group.members", { gid: (data!.group as { gid: number }).gid, members: ["alice"] });
  }
  expect((await desk.call(alice, "sys.info")).ok).toBe(true);
});

describe("a large file", () => {
  const large = (letter: string, lines: number) => `${letter.repeat(999)}\n`.repeat(lines);
  let alice: string;

  beforeEach(async () => {
    alice = await desk.enter("alice", { password: "alice first" });
    await desk.call(alice, "fs.write", { path: "~/large", content: large("a", 600) });
  });

  it("is read in its old or its new version, never a mix, while it is replaced", async () => {
    const read = desk.ask(alice, "fs.read", { path: "~/large" });
    desk.ask(alice, "fs.write", { path: "~/large", content: large("b", 400) });
    await desk.quiet();
    const { content, size } = desk.answer(alice, read)!.data as { content: string; size: number };
    const letters = new Set(content.replaceAll(/[^ab]/g, ""));
    expect([...letters].join("")).toHaveLength(1);
    expect(size).toBe(letters.has("a") ? 600_000 : 400_000);
  });

  it("keeps its content if its deletion is lost while orphans are swept", async () => {
    const dueAt = Number(desk.sql.get("SELECT due_at FROM timers WHERE kind = 'sweep'")?.due_at);
    await desk.pass(dueAt - desk.agenda.now - 1_500);
    desk.sql.commit();
    const id = desk.ask(alice, "fs.delete", { path: "~/large" });
    await desk.pass(3_000);
    desk.sql.commit("full");
    await desk.quiet();
    expect(desk.answer(alice, id)?.error?.code).toBe(507);
    alice = await desk.enter("alice", { password: "alice first" });
    expect((await desk.call(alice, "fs.read", { path: "~/large", limit: 1 })).data).toMatchObject({ ok: true, size: 600_000 });
  });

  it("is complete after a crash, and unreadable for others", async () => {
    const root = await desk.enter("root", { password: "root first" });
    await desk.call(root, "sys.user.create", { username: "bob", password: "bob first" });
    desk.crash();
    alice = await desk.enter("alice", { password: "alice first" });
    const { data } = await desk.call(alice, "fs.read", { path: "~/large" });
    expect(data).toMatchObject({ ok: true, lines: 600, size: 600_000 });
    const bob = await desk.enter("bob", { password: "bob first" });
    expect((await desk.call(bob, "fs.read", { path: "/home/alice/large" })).data).toEqual({
      ok: false,
      error: "Permission denied: /home/alice/large",
    });
  });
});

it("a day of idempotency keys is swept in steps that yield to other work", async () => {
  desk.sql.run(
    `INSERT INTO idempotency WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
       SELECT 1000, 'k' || i, '', '', 0, 0 FROM n`,
  );
  const left = () => Number(desk.sql.get("SELECT count(*) AS left FROM idempotency")?.left);
  const due = () => desk.sql.get("SELECT due_at FROM timers WHERE kind = 'sweep'");
  const dueInMs = () => Number(due()?.due_at) - desk.agenda.now;
  const before = left();
  const seen = new Set<number>();
  await desk.pass(dueInMs() - 1_000);
  for (let at = 0; at < 300 && dueInMs() < 60_000; at++) {
    await desk.pass(20);
    seen.add(before - left());
  }
  expect([...seen]).toEqual([0, 1000, 2000, 2500]);
  // Nothing is left for another sweep to remove.
  expect(due()).toBeUndefined();
});

it("a change on a target refuses a key that it could not store", async () => {
  const alice = await desk.enter("alice", { password: "alice first" });
  await desk.call(alice, "fs.write", { path: "~/notes", content: "one" });
  const id = desk.ask(alice, "fs.edit", { path: "~/notes", oldString: "one", newString: "two" }, { key: "edit once" });
  await desk.quiet();
  expect(desk.answer(alice, id)?.error).toMatchObject({ code: 400 });
  expect((await desk.call(alice, "fs.read", { path: "~/notes" })).data).toMatchObject({ content: "     1\tone" });
});
