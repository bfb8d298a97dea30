// How many tokens a user may have, and which are deleted to make room.

import { expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { migrate } from "../schema/migrate.ts";
import { Tokens, UNUSED_MS } from "./tokens.ts";

it("deletes ended tokens before it refuses a new one, and refuses a new one rather than delete a live one", () => {
  const sql = new MemorySql();
  migrate(sql);
  const tokens = new Tokens(sql, memoryCrypto(new Random("tokens")));
  const create = (now: number, expiresAt = 10_000_000) =>
    tokens.make({ uid: 1000, kind: "user", label: null, allowedDeviceId: null, expiresAt }, now);
  const [first, second, third] = Array.from({ length: LIMITS.tokensPerUser }, (_, at) => create(at, at === 2 ? 7_500 : undefined));
  expect(() => create(5_000)).toThrow("Too many tokens");
  tokens.revoke(second!.tokenId, null, 6_000);
  create(7_000);
  expect(tokens.get(second!.tokenId)).toBeUndefined();
  expect(() => create(7_400)).toThrow("Too many tokens");
  create(7_500);
  expect(tokens.get(third!.tokenId)).toBeUndefined();
  expect(tokens.findLive(first!.token, 7_500)).toBeDefined();
  expect(tokens.list(1000)).toHaveLength(LIMITS.tokensPerUser);
  tokens.make({ uid: 1001, kind: "user", label: null, allowedDeviceId: null, expiresAt: null }, 8_000);
});

it("deletes tokens that ended unused before it refuses a new one", () => {
  const sql = new MemorySql();
  migrate(sql);
  const tokens = new Tokens(sql, memoryCrypto(new Random("tokens")));
  const create = (now: number, firstUseWithinMs?: number) =>
    tokens.make({ uid: 1000, kind: "node", label: null, allowedDeviceId: null, expiresAt: undefined, firstUseWithinMs }, now);
  const [used, idle] = [create(0), create(0)];
  tokens.recordUse([used.tokenId], 1_000);
  const abandoned = create(UNUSED_MS - 2_000, 1_000);
  while (tokens.list().length < LIMITS.tokensPerUser) create(UNUSED_MS - 2_000);
  expect(() => create(UNUSED_MS - 1_001)).toThrow("Too many tokens");
  create(UNUSED_MS - 1_000);
  expect(tokens.get(abandoned.tokenId)).toBeUndefined();
  expect(() => create(UNUSED_MS - 1)).toThrow("Too many tokens");
  create(UNUSED_MS);
  expect(tokens.get(idle.tokenId)).toBeUndefined();
  expect(tokens.findLive(used.token, UNUSED_MS + 999)?.tokenId).toBe(used.tokenId);
  expect(tokens.findLive(used.token, UNUSED_MS + 1_000)).toBeUndefined();
});
