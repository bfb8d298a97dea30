// Codes for signing in on another device, on the virtual clock: when they expire, and what a crash leaves of one that is being used.

import { beforeEach, expect, it } from "vitest";
import { Desk } from "./desk.ts";

type Code = { codeId: string; code: string };
type Token = { tokenId: string; token: string };

const MINUTE_MS = 60_000;

let desk: Desk;
let alice: string;

beforeEach(async () => {
  desk = await Desk.populated();
  alice = await desk.enter("alice", { password: "alice first" });
});

it("a code works for three minutes, and its row is deleted later", async () => {
  const first = await make();
  await desk.pass(3 * MINUTE_MS - 5_000);
  expect((await redeem(first.code)).ok).toBe(true);
  const second = await make();
  await desk.pass(3 * MINUTE_MS);
  expect(await redeem(second.code)).toMatchObject({ ok: false, error: { code: 401, message: "Authentication failed" } });
  await desk.pass(26 * 60 * MINUTE_MS);
  expect(desk.sql.get("SELECT count(*) AS count FROM sign_in_codes")).toEqual({ count: 0 });
});

it("a token that its browser never got is deleted a minute later", async () => {
  const { token, tokenId } = (await redeem((await make()).code)).data!.token as Token;
  await desk.pass(MINUTE_MS);
  await expect(desk.enter("alice", { token })).rejects.toThrow("Authentication failed");
  await desk.pass(2 * 60 * MINUTE_MS);
  expect(desk.sql.get("SELECT 1 FROM auth_tokens WHERE token_id = ?", tokenId)).toBeUndefined();
});

it("a crash leaves either an open code and no token, or a token and a used code", async () => {
  const { code } = await make();
  const stranger = desk.open();
  const id = desk.ask(stranger, "sys.signin.redeem", { username: "alice", code });
  await desk.pass(1);
  expect([desk.answer(stranger, id), tokenCount()], "made, but not yet durable").toEqual([undefined, 1]);
  desk.crash();
  expect(tokenCount()).toBe(0);
  const { token } = (await redeem(code)).data!.token as Token;
  desk.crash();
  expect((await redeem(code)).error?.code).toBe(401);
  await desk.enter("alice", { token });
});

it("neither a code nor what it gave is in a log line, and no row contains a code", async () => {
  const { code } = await make();
  await redeem(`${code}x`);
  const { token } = (await redeem(code)).data!.token as Token;
  expect(JSON.stringify(desk.sql.all("SELECT * FROM sign_in_codes"))).not.toContain(code);
  expect(desk.incidents.join("\n")).not.toMatch(new RegExp(`${code}|${token}`));
});

async function make(): Promise<Code> {
  return (await desk.call(alice, "sys.signin.create")).data as Code;
}

function redeem(code: string) {
  return desk.call(desk.open(), "sys.signin.redeem", { username: "alice", code });
}

function tokenCount(): number {
  return Number(desk.sql.get("SELECT count(*) AS count FROM auth_tokens")?.count);
}
