// How many tokens a user may have, and which make room.

import { expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { migrate } from "../schema/migrate.ts";
import { Tokens } from "./tokens.ts";

it("forgets what has ended before it refuses a new token, and refuses before it forgets one in use", () => {
  const sql = new MemorySql();
  migrate(sql);
  const tokens = new Tokens(sql, memoryCrypto(new Random("tokens")));
  const create = (now: number, expiresAt = 10_000_000) =>
    tokens.create({ uid: 1000, kind: "user", label: null, allowedDeviceId: null, expiresAt }, now);
  const [first, second, third] = Array.from({ length: LIMITS.tokensPerUser }, (_, at) => create(at, at === 2 ? 7_500 : undefined));
  expect(() => create(5_000)).toThrow("Too many tokens");
  tokens.revoke(second!.tokenId, null, 6_000);
  create(7_000);
  expect(tokens.get(second!.tokenId)).toBeUndefined();
  expect(() => create(7_400)).toThrow("Too many tokens");
  create(7_500);
  expect(tokens.get(third!.tokenId)).toBeUndefined();
  expect(tokens.match(first!.token, 7_500)).toBeDefined();
  expect(tokens.list(1000)).toHaveLength(LIMITS.tokensPerUser);
  tokens.create({ uid: 1001, kind: "user", label: null, allowedDeviceId: null, expiresAt: null }, 8_000);
});
