import { expect, test } from "vitest";
import { makeNodeCrypto } from "./crypto.ts";

test("hashes large data to the same value, and yields to the event loop meanwhile", async () => {
  const crypto = makeNodeCrypto(new Uint8Array(32));
  for (const length of [0, 1, 4 * 1024 * 1024, 64 * 1024 * 1024 + 1]) {
    const data = new Uint8Array(length).fill(7);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 0);
    expect(await crypto.sha256Async(data)).toEqual(crypto.sha256(data));
    clearInterval(timer);
    if (length > 32 * 1024 * 1024) expect(ticks).toBeGreaterThan(2);
  }
});
