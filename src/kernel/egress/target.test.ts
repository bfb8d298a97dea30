// Checks of URLs as written, and that root's list allows exactly the hosts on it.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NetError } from "../../ports/net.ts";
import { makeAllowList, type IsAllowed } from "./allow.ts";
import { checkAddresses, resolveLocation, parseUrlTarget } from "./target.ts";

const none: IsAllowed = () => false;

describe("targetOf", () => {
  it("accepts public hosts as they are written", () => {
    expect(parseUrlTarget("https://Example.COM/a?b#c", none)).toMatchObject({
      host: "example.com",
      port: 443,
      address: null,
      isListed: false,
    });
    expect(parseUrlTarget("https://Example.COM/a?b#c", none).url.href).toBe("https://example.com/a?b");
    expect(parseUrlTarget("http://93.184.216.34:8080/", none)).toMatchObject({
      host: "93.184.216.34",
      port: 8080,
      address: "93.184.216.34",
    });
    expect(parseUrlTarget("http://[2606:4700:0::1]/", none)).toMatchObject({ host: "2606:4700::1", port: 80, address: "2606:4700::1" });
    expect(parseUrlTarget("https://bücher.example/", none).host).toBe("xn--bcher-kva.example");
  });

  it("refuses anything but a plain http or https URL, without repeating its secrets", () => {
    const texts = [
      "",
      "example.com",
      "//example.com",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "http:example.com",
      "http:/example.com",
    ];
    const more = [
      "http:///example.com",
      "http://",
      "http://?x",
      "http://a b/",
      "http://a\\b/",
      "http://a\tb.example/",
      "http://a.example:99999/",
    ];
    const last = [
      "http://a.example:0/",
      "http://u@a.example/",
      "http://:hunter2@a.example/",
      "http://@a.example/",
      "http://[::1/",
      "http://[v1.x]/",
    ];
    for (const text of [...texts, ...more, ...last, `https://a.example/${"x".repeat(9_000)}`]) {
      const error = refusalOf(() => parseUrlTarget(text, () => true));
      expect(error.kind, text).toBe("bad_url");
      expect(error.message).not.toContain("hunter2");
    }
  });

  it("refuses local names and says how root can allow them", () => {
    for (const host of [
      "localhost",
      "LOCALHOST.",
      "a.localhost",
      "nas",
      "nas.local",
      "metadata.google.internal",
      "x.home.arpa.",
      "pc.lan",
    ]) {
      const error = refusalOf(() => parseUrlTarget(`http://${host}/`, none));
      expect([error.kind, error.message.includes("gsv config set config/net/allowed_hosts")], host).toEqual(["blocked", true]);
    }
    for (const host of ["localhost.example", "local.example", "internal.example.com"]) parseUrlTarget(`http://${host}/`, none);
  });

  it("refuses every spelling of an IPv4 address but the usual one", () => {
    const byte = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(byte, byte, byte, byte, (a, b, c, d) => {
        const usual = `${a}.${b}.${c}.${d}`;
        const whole = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
        const odd = [
          whole.toString(),
          `0x${whole.toString(16)}`,
          `0${whole.toString(8)}`,
          `${a}.${whole % 2 ** 24}`,
          `${a}.${b}.${whole % 2 ** 16}`,
          `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`,
          `${usual}.`,
          usual.replaceAll(".", "%2e"),
          usual.replaceAll(".", "。"),
        ];
        for (const text of odd.filter((text) => text !== usual)) {
          expect(new URL(`http://${text}/`).hostname).toBe(usual);
          expect(refusalOf(() => parseUrlTarget(`http://${text}/`, (host) => host === usual)).kind, text).toBe("blocked");
        }
      }),
    );
  });

  it("allows a host on root's list as written, and no other spelling of the same address", () => {
    const listed = makeAllowList("localhost 127.0.0.1:8080, [::1] nas.local,0x7f.1", "http://10.0.0.5:11434/v1");
    const open = ["http://localhost/", "https://LOCALHOST:1/", "http://127.0.0.1:8080/", "http://[::1]:3/", "http://[0:0::1]/"];
    for (const text of [...open, "http://nas.local/", "http://0x7f.1/", "http://10.0.0.5:11434/"])
      expect(parseUrlTarget(text, listed).isListed, text).toBe(true);
    const shut = [
      "http://127.0.0.1/",
      "http://127.0.0.1:80801/",
      "http://127.1:8080/",
      "http://[::ffff:127.0.0.1]:8080/",
      "http://localhost./",
    ];
    for (const text of [
      ...shut,
      "http://a.localhost/",
      "http://10.0.0.5/",
      "http://10.0.0.5:443/",
      "http://xnas.local/",
      "http://0x7f000001/",
    ])
      refusalOf(() => parseUrlTarget(text, listed));
  });
});

describe("allowList", () => {
  it("reads entries in the forms people write, and ignores those it cannot parse", () => {
    const list = makeAllowList(" NAS.local:80,\n[FE80::1]:8080\t::1 http://10.0.0.1:99/x 8.8.8.8 ", undefined);
    const isListed = [list("nas.local", 80), list("fe80::1", 8080), list("::1", 1), list("10.0.0.1", 99), list("8.8.8.8", 5)];
    expect(isListed).toEqual([true, true, true, true, true]);
    expect([list("nas.local", 81), list("fe80::1", 80), list("10.0.0.1", 98), list("", 80)]).toEqual([false, false, false, false]);
    for (const text of ["", "*", "*.local", "10.0.0.0/8", ":", ":80", "[]", "a:b:c", "http://", "ftp://a.local"]) {
      const odd = makeAllowList(text, text);
      expect([odd("10.0.0.1", 80), odd("a.local", 21), odd("a", 80), odd("", 80), odd("local", 80)], text).not.toContain(true);
    }
  });
});

describe("checkAddresses", () => {
  it("requires every address to be public, unless the host is listed", () => {
    const target = parseUrlTarget("http://a.example/", none);
    checkAddresses(target, ["93.184.216.34", "2606:4700::1"]);
    const error = refusalOf(() => checkAddresses(target, ["93.184.216.34", "10.1.2.3"]));
    expect(error.message).toContain("a.example resolves to a private address");
    expect(error.message).not.toContain("10.1.2.3");
    checkAddresses({ ...target, isListed: true }, ["10.1.2.3"]);
  });
});

describe("resolveLocation", () => {
  const from = parseUrlTarget("https://a.example/dir/page?q", none);

  it("resolves paths, other hosts, and text that a server did not escape", () => {
    const resolve = (location: string) => resolveLocation(from, location, none).url.href;
    expect(resolve("/x")).toBe("https://a.example/x");
    expect(resolve("x?y")).toBe("https://a.example/dir/x?y");
    expect(resolve("//b.example/x")).toBe("https://b.example/x");
    expect(resolve("https://b.example")).toBe("https://b.example/");
    expect(resolve("/caf\u00c3\u00a9")).toBe("https://a.example/caf%C3%A9");
  });

  it("refuses paths that turn out to name another host, other schemes, and private hosts", () => {
    for (const location of [
      "/\\b.example/",
      "\\\\b.example/",
      "/\t/b.example/",
      "https:b.example",
      "http:/b.example",
      "file:///etc/passwd",
    ])
      expect(refusalOf(() => resolveLocation(from, location, none)).kind, location).toBe("bad_url");
    for (const location of ["//127.0.0.1/", "//2130706433/", "http://[::1]/", "//localhost"])
      expect(refusalOf(() => resolveLocation(from, location, none)).kind, location).toBe("blocked");
  });
});

function refusalOf(body: () => unknown): NetError {
  try {
    body();
  } catch (error) {
    if (error instanceof NetError) return error;
    throw error;
  }
  throw new Error("was not refused");
}
