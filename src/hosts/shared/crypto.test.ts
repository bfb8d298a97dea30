import { expect, test } from "vitest";
import { nodeCrypto } from "./crypto.ts";

test("a large hash is the same hash, and others have their turn while it is made", async () => {
  const crypto = nodeCrypto(new Uint8Array(32));
  for (const length of [0, 1, 4 * 1024 * 1024, 64 * 1024 * 1024 + 1]) {
    const data = new Uint8Array(length).fill(7);
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    expect(await crypto.sha256Slowly(data)).toEqual(crypto.sha256(data));
    clearInterval(others);
    if (length > 32 * 1024 * 1024) expect(turns).toBeGreaterThan(2);
  }
});
