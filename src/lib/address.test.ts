// One person, one throttle key: every spelling of an address gives the same key, and other addresses give another.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addressKey, isLoopback } from "./address.ts";

const byte = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(byte, byte, byte, byte);
const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }).filter((parts) => !isMapped(parts));

describe("addressKey", () => {
  it("maps every spelling of an IPv4-mapped address to its IPv4 address", () => {
    fc.assert(
      fc.property(ipv4, ([a, b, c, d]) => {
        const plain = `${a}.${b}.${c}.${d}`;
        const high = ((a << 8) | b).toString(16);
        const low = ((c << 8) | d).toString(16);
        const spellings = [
          `::ffff:${plain}`,
          `::FFFF:${plain}`,
          `[::ffff:${plain}]`,
          `::ffff:${high}:${low}`,
          `0:0:0:0:0:ffff:${high}:${low}`,
        ];
        for (const text of [plain, ...spellings, `::ffff:${plain}%eth0`]) expect(addressKey(text), text).toBe(plain);
      }),
    );
  });

  it("maps every spelling of an IPv6 address to its /64", () => {
    fc.assert(
      fc.property(groups, fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 4, maxLength: 4 }), (parts, host) => {
        const neighbour = [...parts.slice(0, 4), ...host];
        if (isMapped(neighbour)) return;
        const key = addressKey(full(parts));
        for (const text of [compressed(parts), full(neighbour), full(parts).toUpperCase(), `[${full(parts)}]`, `${full(parts)}%en0`])
          expect(addressKey(text), text).toBe(key);
      }),
    );
  });

  it("gives different keys to different /64s", () => {
    fc.assert(
      fc.property(groups, groups, (a, b) => {
        const isSame = a.slice(0, 4).join() === b.slice(0, 4).join();
        expect(addressKey(full(a)) === addressKey(full(b))).toBe(isSame);
      }),
    );
  });

  it("returns a key for any text, and is idempotent", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(":", "::", "f", "0", ".", "1", "%", "[", "]", "/") }),
    );
    fc.assert(
      fc.property(text, (garbage) => {
        expect(typeof addressKey(garbage)).toBe("string");
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(groups, (parts) => {
        expect(addressKey(addressKey(full(parts)))).toBe(addressKey(full(parts)));
      }),
    );
  });

  it("returns text that is no address unchanged", () => {
    for (const text of ["unknown", "", "g::1", "12345::", "1:2:3", "::ffff:300.1.1.1"]) expect(addressKey(text), text).toBe(text);
  });
});

describe("isLoopback", () => {
  it("recognizes the names and addresses of this machine and no others", () => {
    for (const text of ["localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]", "::ffff:127.0.0.1"])
      expect(isLoopback(text), text).toBe(true);
    for (const text of ["0.0.0.0", "::", "128.0.0.1", "10.0.0.1", "127.0.0.1.evil.example", "localhost.evil.example", "1127.0.0.1", ""])
      expect(isLoopback(text), text).toBe(false);
  });
});

function isMapped(parts: readonly number[]): boolean {
  return parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;
}

function full(parts: readonly number[]): string {
  return parts.map((part) => part.toString(16)).join(":");
}

/** Writes the first longest run of zeros as "::", if there is one. */
function compressed(parts: readonly number[]): string {
  const runs = parts.map((_, at) => {
    const end = parts.findIndex((part, i) => i >= at && part !== 0);
    return (end === -1 ? parts.length : end) - at;
  });
  const longest = Math.max(...runs);
  if (longest < 2) return full(parts);
  const start = runs.indexOf(longest);
  return `${full(parts.slice(0, start))}::${full(parts.slice(start + longest))}`;
}
