// Compares the classifier with a slow reference: the same registries as ranges, matched as strings of bits, so that a mistake in
// either table or in the masks shows.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAddress, forbiddenReason, parsePrefix } from "./address.ts";

const V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32`.split(/\s+/);

/** Everything outside 2000::/3, as several ranges, and the special ranges within it. */
const V6 = `0000::/3 4000::/2 8000::/1 ::/128 ::1/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2001::/23
  2001:2::/48 2001:10::/28 2001:20::/28 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8`.split(/\s+/);

const byte = fc.integer({ min: 0, max: 255 });
const four = fc.tuple(byte, byte, byte, byte).map((bytes): number[] => bytes);
const sixteen = fc.array(byte, { minLength: 16, maxLength: 16 });
/** Addresses in a listed range, at its edges, or one beyond, where mistakes are likely. */
const near = (ranges: string[], random: fc.Arbitrary<number[]>) =>
  fc.tuple(fc.constantFrom(...ranges), random, fc.constantFrom("in", "first", "last", "before", "after")).map(([range, noise, where]) => {
    const { bits, length } = rangeBits(range);
    const rest = where === "in" ? bitsOf(noise) : (where === "last" || where === "after" ? "1" : "0").repeat(length);
    const value = BigInt(`0b${bits}${rest.slice(bits.length)}`) + (where === "before" ? -1n : where === "after" ? 1n : 0n);
    const wrapped = ((value % 2n ** BigInt(length)) + 2n ** BigInt(length)) % 2n ** BigInt(length);
    return wrapped
      .toString(2)
      .padStart(length, "0")
      .match(/.{8}/g)!
      .map((octet) => Number.parseInt(octet, 2));
  });

describe("forbidden", () => {
  it("agrees with the registries on every IPv4 address", () => {
    fc.assert(
      fc.property(fc.oneof(four, near(V4, four)), (bytes) => {
        const text = bytes.join(".");
        expect(forbiddenReason(text) !== null, text).toBe(V4.some((range) => isIn(range, bytes)));
      }),
      { numRuns: 2_000 },
    );
  });

  it("agrees with the registries on every IPv6 address, however it is spelled", () => {
    const global = sixteen.map(([first = 0, ...rest]) => [0x20 | (first & 0x1f), ...rest]);
    fc.assert(
      fc.property(fc.oneof(sixteen, global, near(V6, sixteen)), (bytes) => {
        const wanted = V6.some((range) => isIn(range, bytes));
        for (const text of spellings(bytes)) {
          expect([...(parseAddress(text) ?? [])], text).toEqual(bytes);
          expect(forbiddenReason(text) !== null, text).toBe(wanted);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("forbids every IPv6 address that embeds an IPv4 address, public or not", () => {
    fc.assert(
      fc.property(four, ([a = 0, b = 0, c = 0, d = 0]) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const [high, low] = [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)];
        const carriers = [
          `::ffff:${dotted}`,
          `::${dotted}`,
          `::ffff:0:${dotted}`,
          `64:ff9b::${dotted}`,
          `64:ff9b:1::${dotted}`,
          `2002:${high}:${low}::1`,
          `2001:0:${high}:${low}::${high}:${low}`,
        ];
        for (const text of carriers) expect(forbiddenReason(text), text).not.toBeNull();
      }),
    );
  });

  it("forbids text that it cannot parse", () => {
    for (const text of [
      "",
      "1.2.3",
      "01.2.3.4",
      "1.2.3.4.5",
      "256.1.1.1",
      "0x8.8.8.8",
      "8.8.8.8 ",
      "localhost",
      "1::2::3",
      ":::",
      "1:2:3:4:5:6:7",
    ])
      expect(forbiddenReason(text), text).toBe("no readable address");
    for (const text of ["2606:4700::1%eth0", "2606:4700::12345", "1:2:3:4:5:6:7:8:9", "::ffff:1.2.3.256", "1:2:3:4:5:6:7::8", "g::1", ":1"])
      expect(forbiddenReason(text), text).toBe("no readable address");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(":", "::", "f", "0", ".", "1", "%", "[", "]", "/", "x") }), (text) => {
        const bytes = parseAddress(text);
        if (bytes === null) expect(forbiddenReason(text), text).not.toBeNull();
        else expect([4, 16]).toContain(bytes.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("forbids the machine's own networks", () => {
    const own = [parsePrefix("2606:4700:1:2::5/64")!, parsePrefix("93.184.216.34")!];
    expect(forbiddenReason("2606:4700:1:2:ffff::9", own)).toContain("own network");
    expect(forbiddenReason("2606:4700:1:3::9", own)).toBeNull();
    expect(forbiddenReason("93.184.216.34", own)).toContain("own network");
    expect(forbiddenReason("93.184.216.35", own)).toBeNull();
    for (const text of ["10.0.0.0/33", "::/129", "x/8", "1.2.3.4/x", "1.2.3.4/-1"]) expect(parsePrefix(text), text).toBeNull();
  });
});

function isIn(range: string, bytes: readonly number[]): boolean {
  const { bits, length } = rangeBits(range);
  return bytes.length * 8 === length && bitsOf(bytes).startsWith(bits);
}

function rangeBits(range: string): { bits: string; length: number } {
  const [address = "", count] = range.split("/");
  const bytes = address.includes(":") ? groupsOf(address).flatMap((group) => [group >> 8, group & 255]) : address.split(".").map(Number);
  return { bits: bitsOf(bytes).slice(0, Number(count)), length: bytes.length * 8 };
}

function groupsOf(address: string): number[] {
  const [front = "", back = ""] = address.split("::");
  const parse = (half: string) => (half === "" ? [] : half.split(":").map((group) => Number.parseInt(group, 16)));
  const zeros = 8 - parse(front).length - parse(back).length;
  return [...parse(front), ...Array.from({ length: zeros }, () => 0), ...parse(back)];
}

function bitsOf(bytes: readonly number[]): string {
  return bytes.map((value) => value.toString(2).padStart(8, "0")).join("");
}

function spellings(bytes: readonly number[]): string[] {
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2]! << 8) | bytes[at * 2 + 1]!).toString(16));
  const full = groups.join(":");
  const padded = groups.map((group) => group.padStart(4, "0")).join(":");
  const dotted = `${groups.slice(0, 6).join(":")}:${bytes.slice(12).join(".")}`;
  const short = new URL(`http://[${full}]/`).hostname.slice(1, -1);
  return [full, padded, full.toUpperCase(), dotted, short];
}
