// Small pure parts of the web desktop.

import { expect, test } from "vitest";
import { addressesOf, listRoutes, type NetworkFacts, parseOrigin, portFlag } from "../../web/src/machines/addresses.ts";
import { matchEntries } from "../../web/src/find/match-entries.ts";
import { browserLabel } from "../../web/src/state/browser-token.ts";
import { formatRelativeTime } from "../../web/src/ui/relative-time.ts";

test("entries of Find are matched by the start of their words first, then by any other text of theirs", () => {
  const entries = [
    { id: "1", title: "Open Machines beside", group: "Actions", words: "Panes" },
    { id: "2", title: "Go to Machines", group: "Actions", words: "Go to" },
    { id: "3", title: "Machine overview", group: "Machines", words: "computers" },
  ];
  const found = (typed: string) => matchEntries(entries, typed).map(({ id }) => id);
  expect(found("")).toEqual(["1", "2", "3"]);
  expect(found("mach")).toEqual(["3", "1", "2"]);
  expect(found("MACH go")).toEqual(["2"]);
  expect(found("comp")).toEqual(["3"]);
  expect(found("mach nothing")).toEqual([]);
});

test("times are described as people describe them", () => {
  const now = 1_800_000_000_000;
  const minute = 60_000;
  expect([0, 59_999, minute, 90 * minute, 25 * 60 * minute, 400 * 24 * 60 * minute].map((ms) => formatRelativeTime(now - ms, now))).toEqual(
    ["just now", "just now", "1 minute ago", "1 hour ago", "yesterday", "13 months ago"],
  );
  expect(formatRelativeTime(now + 24 * 60 * minute - 1_000, now)).toBe("in 24 hours");
  expect([2_000, 30_000, 3 * minute].map((ms) => formatRelativeTime(now + ms, now))).toEqual([
    "just now",
    "in less than a minute",
    "in 3 minutes",
  ]);
  // Days of the calendar, whatever the time of day.
  const thursday = new Date(2026, 10, 19, 18, 45).getTime();
  const days = [
    [20, 19],
    [21, 12],
    [21, 23],
    [30, 9],
  ].map(([day, hour]) => formatRelativeTime(new Date(2026, 10, day, hour).getTime(), thursday));
  expect(days).toEqual(["tomorrow", "in 2 days", "in 2 days", "in 11 days"]);
  expect(formatRelativeTime(new Date(2028, 1, 29, 9).getTime(), thursday)).toBe("in 15 months");
});

test("a browser's token has a label that a person recognizes", () => {
  const agents = {
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36": "Chrome on Linux",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0":
      "Edge on Windows",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:150.0) Gecko/20100101 Firefox/150.0": "Firefox on macOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 20_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/20.0 Mobile/15E148 Safari/604.1":
      "Safari on iPhone",
    "": "a browser on an unknown system",
  };
  for (const [agent, label] of Object.entries(agents)) expect(browserLabel(agent)).toBe(`Web desktop: ${label}`);
});

test("a machine gets an address that it can use on its way to the gateway, or none", () => {
  const closed: NetworkFacts = {
    listensOn: "loopback",
    port: 8787,
    isEncrypted: false,
    origins: [],
    interfaces: [{ address: "192.168.1.20", kind: "local" }],
  };
  const here = "http://localhost:8787";
  expect(listRoutes(closed, here)[0]).toBe("here");
  expect(addressesOf("here", closed, here)).toEqual([here]);
  for (const route of ["local", "tailscale", "tunnel", "name"] as const) expect(addressesOf(route, closed, here), route).toEqual([]);
  const open: NetworkFacts = {
    ...closed,
    listensOn: "network",
    port: 9000,
    origins: ["https://box.tail1.ts.net", "https://gsv.example.com", "https://a-b.trycloudflare.com"],
    interfaces: [...closed.interfaces, { address: "100.64.0.7", kind: "tailscale" }],
  };
  const name = "https://gsv.example.com";
  expect(listRoutes(open, name)[0]).toBe("same");
  expect(addressesOf("same", open, name)).toEqual([name]);
  expect(addressesOf("here", open, name)).toEqual(["http://127.0.0.1:9000"]);
  expect(addressesOf("local", open, name)).toEqual(["http://192.168.1.20:9000"]);
  expect(addressesOf("tailscale", open, name)).toEqual(["https://box.tail1.ts.net", "http://100.64.0.7:9000"]);
  expect(addressesOf("tunnel", open, name)).toEqual(["https://a-b.trycloudflare.com"]);
  expect(addressesOf("name", open, name)).toEqual([name]);
  expect([portFlag(closed), portFlag(open)]).toEqual(["", " --port 9000"]);
  expect(listRoutes({ ...open, listensOn: "platform" }, name)).toEqual(["same"]);
});

test("an address may be typed without a scheme, and is reduced to its origin", () => {
  expect(
    ["gsv.example.com", " https://gsv.example.com/machines?x ", "http://10.0.0.2:8787", "ftp://x", "a b", "x@y", ""].map(parseOrigin),
  ).toEqual(["https://gsv.example.com", "https://gsv.example.com", "http://10.0.0.2:8787", null, null, null, null]);
});
