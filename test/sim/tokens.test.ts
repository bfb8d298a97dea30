// How long tokens live, on the virtual clock: as long as they are in use, which includes open connections, and a year after that.

import { beforeEach, expect, it } from "vitest";
import { Desk } from "./desk.ts";

type Token = { tokenId: string; token: string; lastUsedAt: number | null; endsUnusedAt: number | null };
type Check = { id: string; state: string; says: string; next: string | null };

const DAY_MS = 24 * 60 * 60 * 1000;
const LAPTOP = { id: "laptop", role: "driver" };

let desk: Desk;

beforeEach(async () => {
  desk = await Desk.populated();
});

it("a machine that stays connected for 14 months, across hibernation, reconnects with the same token after a crash", async () => {
  const made = await make({ kind: "node", allowedDeviceId: "laptop", label: "laptop" });
  const socketId = await desk.enter("alice", { token: made.token }, LAPTOP);
  for (let month = 0; month < 14; month++) {
    await leap(30 * DAY_MS);
    desk.hibernate();
  }
  expect(desk.closed.has(socketId)).toBe(false);
  const { lastUsedAt } = await findToken(made.tokenId);
  expect(desk.agenda.now - lastUsedAt!).toBeLessThan(DAY_MS);
  desk.crash();
  await desk.enter("alice", { token: made.token }, LAPTOP);
});

it("an unused token expires after a year, and the doctor warns weeks before", async () => {
  const [laptop, script] = [await make({ kind: "node", label: "laptop" }), await make({ kind: "user", label: "backup script" })];
  for (const [token, as] of [
    [laptop.token, LAPTOP],
    [script.token, { id: "backup" }],
  ] as const)
    desk.sockets.cut(await desk.enter("alice", { token }, as));
  await leap(300 * DAY_MS);
  expect((await doctor("tokens")).says).not.toContain("about to expire");
  await leap(45 * DAY_MS);
  desk.sockets.cut(await desk.enter("alice", { token: script.token }, { id: "backup" }));
  expect(await doctor("tokens")).toMatchObject({ state: "warn", says: expect.stringContaining("about to expire: laptop in 3 weeks") });
  await leap(21 * DAY_MS);
  await expect(desk.enter("alice", { token: laptop.token }, LAPTOP)).rejects.toThrow("Authentication failed");
  expect((await findToken(laptop.tokenId)).endsUnusedAt).toBeLessThan(desk.agenda.now);
  await desk.enter("alice", { token: script.token }, { id: "backup" });
});

it("a token with a first-use deadline that is never used is refused after an hour and then deleted; one that was used stays", async () => {
  const [unused, used] = [
    await make({ kind: "node", firstUseWithinMs: 3_600_000 }),
    await make({ kind: "node", firstUseWithinMs: 3_600_000 }),
  ];
  await desk.pass(3_500_000);
  desk.sockets.cut(await desk.enter("alice", { token: used.token }, LAPTOP));
  await desk.pass(100_000);
  await expect(desk.enter("alice", { token: unused.token }, LAPTOP)).rejects.toThrow("Authentication failed");
  await desk.pass(3_600_000);
  expect((await tokens()).map(({ tokenId }) => tokenId)).toEqual([used.tokenId]);
  await leap(300 * DAY_MS);
  await desk.enter("alice", { token: used.token }, LAPTOP);
});

it("the doctor distinguishes tokens that were never used from tokens in use", async () => {
  await make({ kind: "node", label: "laptop" });
  expect(await doctor("tokens")).toMatchObject({ state: "ok", says: "1 valid token, never used yet." });
  const script = await make({ kind: "user", label: "backup script" });
  await desk.enter("alice", { token: script.token }, { id: "backup" });
  expect((await doctor("tokens")).says).toBe("2 valid tokens, 1 of them never used yet.");
  await leap(8 * DAY_MS);
  expect(await doctor("tokens")).toMatchObject({ state: "warn", says: "Never used since they were created: laptop." });
});

/** A year has thousands of sweeps that find nothing: the clock moves at once, and the kernel is woken late, which is allowed. */
async function leap(ms: number): Promise<void> {
  const until = desk.agenda.now + ms;
  desk.agenda.drop("kernel");
  await desk.pass(ms);
  expect(desk.agenda.now).toBe(until);
  desk.kernel.onWake();
  await desk.quiet();
}

async function make(args: Record<string, unknown>): Promise<Token> {
  const alice = await desk.enter("alice", { password: "alice first" });
  return (await desk.call(alice, "sys.token.create", args)).data!.token as Token;
}

async function tokens(): Promise<Token[]> {
  const alice = await desk.enter("alice", { password: "alice first" });
  return (await desk.call(alice, "sys.token.list")).data!.tokens as Token[];
}

async function findToken(tokenId: string): Promise<Token> {
  return (await tokens()).find((token) => token.tokenId === tokenId)!;
}

async function doctor(id: string): Promise<Check> {
  const alice = await desk.enter("alice", { password: "alice first" });
  return ((await desk.call(alice, "sys.doctor")).data!.checks as Check[]).find((check) => check.id === id)!;
}
