// B04: requests go only where they may. Tries hostile URLs, redirects, name servers that change their answers, credentials on the
// way to another origin, limits and cancellation, over real sockets, with canaries that count connections; the same checks on the
// Cloudflare host; the addresses that MCP servers and OAuth providers name; and a search of the sources for a second way out. Everything stays on this machine: egress/world.ts.

import { subscribe } from "node:diagnostics_channel";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { type Net, NetError, type NetOptions, type NetRequest } from "../../src/ports/net.ts";
import { TEST_CERT } from "../support/tls.ts";
import { Bar } from "./bar.ts";
import { cloudflare } from "./egress/cloudflare.ts";
import { namesOfMcpClient, strayConnections, waysOut } from "./egress/imports.ts";
import { mcpAndOAuth } from "./egress/mcp.ts";
import { FORBIDDEN_V4, FORBIDDEN_V6, hostileUrls } from "./egress/urls.ts";
import { PUBLIC, World } from "./egress/world.ts";

const bar = new Bar("B04 trust:egress");
const world = await World.start({
  "a.example": () => [PUBLIC.a],
  "six.example": () => [PUBLIC.a6],
  "b.example": () => [PUBLIC.b],
  "rebind.example": (asked) => (asked === 0 ? [PUBLIC.a] : ["127.0.0.1"]),
  "mixed.example": () => [PUBLIC.a, "127.0.0.1"],
  "mixed-first.example": () => ["10.0.0.1", PUBLIC.a],
  "mixed-six.example": () => [PUBLIC.a, "::1"],
  "alias.example": () => ({ alias: "inner.example" }),
  "inner.example": () => ["192.168.1.1"],
  "listed.example": () => ["127.0.0.1"],
  localhost: () => ["127.0.0.1"],
  "empty.example": () => [],
  "silent.example": () => null,
  ...Object.fromEntries([...FORBIDDEN_V4, ...FORBIDDEN_V6].map((address, at) => [`class-${at}.example`, () => [address]])),
});
const A = "http://a.example";
let sockets = 0;
subscribe("net.client.socket", () => sockets++);
// A proxy from the environment would be another way out that skips every check.
for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"])
  process.env[name] = `http://127.0.0.1:${world.canaryPort}`;
process.env.NODE_USE_ENV_PROXY = "1";

await urls();
await redirects();
await names();
await credentials();
await listed();
await encrypted();
await limits();
await cancellation();
await cloudflare(bar);
await mcpAndOAuth(bar, world);
checkCanaries("mcp");
sources();
await world.close();
bar.end();

async function urls(): Promise<void> {
  const before = sockets;
  for (const url of hostileUrls(world.canaryPort)) {
    const outcome = await fetchOutcome(world.net(), { url });
    bar.check("urls", outcome === "blocked" || outcome === "bad_url", () => `${JSON.stringify(url.slice(0, 100))}: ${outcome}`);
  }
  checkCanaries("urls");
  bar.check("sockets", sockets === before, () => `${sockets - before} sockets were made for hostile URLs`);
  const good = [
    `${A}/`,
    "http://A.EXAMPLE:8080/x",
    `http://${PUBLIC.a}/`,
    `http://[${PUBLIC.a6}]/`,
    "http://six.example/",
    "http://a.example./",
  ];
  for (const url of good) {
    const outcome = await fetchOutcome(world.net(), { url });
    bar.check("good urls", outcome === "ok", () => `${url}: ${outcome}`);
  }
}

async function redirects(): Promise<void> {
  const to = (url: string, status = 302) => `${A}/to?status=${status}&url=${encodeURIComponent(url)}`;
  // Node's server refuses to send a line break in a header, so those two are left out.
  const locations = hostileUrls(world.canaryPort).filter((url) => url !== "" && !/[\n\0]/.test(url) && !/^127|^\/\/127/.test(url));
  for (const [at, url] of locations.entries()) {
    const status = [301, 302, 303, 307, 308][at % 5]!;
    // The second redirects through another origin first: the last hop must be checked too.
    for (const first of [to(url, status), to(`http://b.example/to?status=${status}&url=${encodeURIComponent(url)}`)]) {
      const outcome = await fetchOutcome(world.net(), { url: first });
      bar.check("redirects", outcome === "blocked" || outcome === "bad_url", () => `to ${JSON.stringify(url.slice(0, 100))}: ${outcome}`);
    }
  }
  const chain = [
    `${A}/to?url=${encodeURIComponent("//127.0.0.1/")}`,
    "//localhost",
    "//mixed.example/",
    "http://inner.example/",
    "/\\127.0.0.1/",
  ];
  for (const url of chain) {
    const outcome = await fetchOutcome(world.net(), { url: to(url) });
    bar.check("redirects", outcome === "blocked" || outcome === "bad_url", () => `to ${url}: ${outcome}`);
  }
  checkCanaries("redirects");
  const counted: [string, string][] = [
    [`${A}/loop`, "too_many_redirects"],
    [`${A}/down?n=5`, "ok"],
    [`${A}/down?n=6`, "too_many_redirects"],
    [to("http://b.example/"), "ok"],
    [to("relative"), "ok"],
    [to(`/caf\u00e9`), "ok"],
  ];
  for (const [url, wanted] of counted) {
    const outcome = await fetchOutcome(world.net(), { url });
    bar.check("redirects", outcome === wanted, () => `${url}: ${outcome}, wanted ${wanted}`);
  }
}

/** Forbidden addresses from name servers, and answers that change. */
async function names(): Promise<void> {
  const zone = [...FORBIDDEN_V4, ...FORBIDDEN_V6].map((_, at) => `class-${at}.example`);
  for (const name of [...zone, "mixed.example", "mixed-first.example", "mixed-six.example", "alias.example", "inner.example"]) {
    const outcome = await fetchOutcome(world.net(), { url: `http://${name}:${world.canaryPort}/` });
    bar.check("names", outcome === "blocked", () => `${name}: ${outcome}`);
  }
  const before = sockets;
  const first = await fetchOutcome(world.net(), { url: "http://rebind.example/" });
  const asked = world.names.asked("rebind.example", "A");
  bar.check("rebinding", first === "ok" && asked === 1, () => `first: ${first}, the name was looked up ${asked} times`);
  bar.check("rebinding", sockets === before + 1, () => `${sockets - before} sockets for one request`);
  for (let at = 0; at < 5; at++) {
    const again = await fetchOutcome(world.net(), { url: "http://rebind.example/" });
    bar.check("rebinding", again === "blocked", () => `rebound: ${again}`);
  }
  for (const name of ["nowhere.example", "empty.example"])
    bar.check("names", (await fetchOutcome(world.net(), { url: `http://${name}/` })) === "dns", () => `${name} was found`);
  checkCanaries("names");
}

/** V15: credentials for A never reach B. */
async function credentials(): Promise<void> {
  const secrets = { authorization: "Bearer CANARY1", cookie: "s=CANARY2", "proxy-authorization": "Basic CANARY3", "x-api-key": "CANARY4" };
  const more = { "private-token": "CANARY5", referer: "http://a.example/?CANARY6", "x-goog-api-key": "CANARY7", Host: "CANARY8" };
  for (const status of [301, 302, 303, 307, 308]) {
    for (const [method, body] of [["GET"], ["POST", "client_secret=CANARY9"], ["PUT", "CANARY9"]] as const) {
      world.seen.length = 0;
      const url = `${A}/to?status=${status}&url=${encodeURIComponent("http://b.example/x")}`;
      const outcome = await fetchOutcome(world.net(), {
        url,
        method,
        headers: { ...secrets, ...more },
        ...(body ? { body: Buffer.from(body) } : {}),
      });
      const atA = world.seen.find(({ server }) => server === "a");
      bar.check("credentials", atA?.headers.authorization === "Bearer CANARY1", () => `${method} ${status}: A did not get its own`);
      const atB = JSON.stringify(world.seen.filter(({ server }) => server === "b"));
      bar.check("credentials", !atB.includes("CANARY"), () => `${method} ${status}: ${outcome}, B got ${atB}`);
      const kept = method === "GET" || status === 303 || (method === "POST" && status < 303);
      bar.check("credentials", outcome === (kept ? "ok" : "blocked"), () => `${method} ${status}: ${outcome}`);
    }
  }
  world.seen.length = 0;
  await fetchOutcome(world.net(), { url: `${A}/to?status=307&url=/same`, method: "POST", headers: secrets, body: Buffer.from("mine") });
  const same = world.seen.at(-1);
  bar.check("credentials", same?.headers.cookie === "s=CANARY2" && same.body === "mine", () => `same origin: ${JSON.stringify(same)}`);
  const errors = await fetchOutcome(world.net(), { url: "http://user:CANARY@a.example/?CANARY" }, {}, (error) => error.message);
  bar.check("credentials", !errors.includes("CANARY"), () => errors);
}

/** Hosts that root listed can be reached, exactly as listed. */
async function listed(): Promise<void> {
  const port = world.canaryPort;
  const cases: [string, string, string | undefined, boolean][] = [
    [`http://127.0.0.1:${port}/`, "127.0.0.1", undefined, true],
    [`http://127.0.0.1:${port}/`, `10.0.0.1, 127.0.0.1:${port}`, undefined, true],
    [`http://127.0.0.1:${port}/v1`, "", `http://127.0.0.1:${port}/v1`, true],
    [`http://listed.example:${port}/`, "listed.example", undefined, true],
    [`${A}/to?url=${encodeURIComponent(`http://127.0.0.1:${port}/`)}`, "127.0.0.1", undefined, true],
    [`http://127.0.0.1:${port}/`, `127.0.0.1:${port - 1} 127.0.0.2 localhost`, `http://127.0.0.1:1/`, false],
    [`http://127.0.0.2:${port}/`, "127.0.0.1", undefined, false],
    [`http://2130706433:${port}/`, "127.0.0.1", undefined, false],
    [`http://listed.example:${port}/`, "127.0.0.1", undefined, false],
    [`http://127.0.0.1:${port}/`, "listed.example", undefined, false],
    [`http://mixed.example:${port}/`, "a.example 127.0.0.1", undefined, false],
  ];
  for (const [url, list, baseUrl, wanted] of cases) {
    const before = world.canaryHits;
    const outcome = await fetchOutcome(world.net(list, baseUrl), { url });
    const hits = world.canaryHits - before;
    bar.check(
      "listed",
      (outcome === "ok") === wanted && hits === (wanted ? 1 : 0),
      () => `${url} with "${list}": ${outcome}, ${hits} hits`,
    );
  }
  world.canaryHits = 0;
  world.takeDialled();
}

async function encrypted(): Promise<void> {
  const at = (host: string, path = "/") => `https://${host}:${world.tlsPort}${path}`;
  const net = world.net("127.0.0.1 localhost listed.example");
  bar.check("tls", (await fetchOutcome(net, { url: at("127.0.0.1") })) === "tls", () => "a certificate nobody trusts was taken");
  setDefaultCACertificates([...getCACertificates("default"), TEST_CERT]);
  const cases: [string, string][] = [
    [at("127.0.0.1"), "ok"],
    [at("localhost"), "ok"],
    [at("listed.example"), "tls"],
    [at("127.0.0.1", `/to?url=${encodeURIComponent(`http://127.0.0.1:${world.canaryPort}/`)}`), "blocked"],
    [at("127.0.0.1", `/to?url=${encodeURIComponent(A)}`), "blocked"],
    [at("127.0.0.1", "/to?url=/x"), "ok"],
  ];
  for (const [url, wanted] of cases) {
    const outcome = await fetchOutcome(net, { url });
    bar.check("tls", outcome === wanted, () => `${url}: ${outcome}, wanted ${wanted}`);
  }
  checkCanaries("tls");
}

async function limits(): Promise<void> {
  const cases: [string, NetOptions, string][] = [
    ["/big", { bytesMax: 9_999_999 }, "too_large"],
    ["/big", { bytesMax: 10_000_000 }, "ok"],
    ["/endless", { bytesMax: 1_000_000 }, "too_large"],
    ["/endless", {}, "too_large"],
    ["/never", { timeoutMs: 200 }, "timeout"],
    ["/drip", { timeoutMs: 200 }, "timeout"],
    ["/drip", { idleMs: 200 }, "timeout"],
    ["/cut", {}, "protocol"],
    ["/headers", {}, "protocol"],
    ["/nothttp", {}, "protocol"],
  ];
  for (const [path, options, wanted] of cases) {
    const started = Date.now();
    const outcome = await fetchOutcome(world.net(), { url: `${A}${path}` }, options);
    const ms = Date.now() - started;
    bar.check(
      "limits",
      outcome === wanted && ms < 60_000,
      () => `${path} ${JSON.stringify(options)}: ${outcome} after ${ms} ms, wanted ${wanted}`,
    );
  }
  const raw = await world.net().fetch({ url: `${A}/zip`, method: "GET", headers: {} });
  bar.check("limits", (await new Response(raw.body).text()) === "not really gzip", () => "an answer was decompressed");
  await waitUntilClosed();
  const net = world.net();
  const over = new AbortController();
  const requests = Promise.all(Array.from({ length: 30 }, () => fetchOutcome(net, { url: `${A}/held` }))).finally(() => over.abort());
  await until(() => world.held.length >= 8);
  // If more had been sent, they would have arrived before this answer.
  await fetchOutcome(world.net(), { url: `${A}/` });
  while (!over.signal.aborted) {
    world.held.shift()?.end("ok");
    await new Promise((resolve) => setImmediate(resolve));
  }
  const outcomes = await requests;
  bar.check("limits", world.most === 8 && outcomes.every((outcome) => outcome === "ok"), () => `${world.most} in parallel, wanted 8`);
}

/** Whatever a request is doing, aborting it closes the connection, and the server sees that. */
async function cancellation(): Promise<void> {
  const upload = () =>
    new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) }, { highWaterMark: 0 });
  const cases: [string, Partial<NetRequest>, number][] = [
    ["http://silent.example/", {}, 0],
    [`${A}/never`, {}, 1],
    [`${A}/drip`, {}, 1],
    [`${A}/endless`, {}, 1],
    [`${A}/upload`, { method: "POST", body: upload() }, 1],
  ];
  for (const [url, request, connections] of cases) {
    await waitUntilClosed();
    const controller = new AbortController();
    const done = fetchOutcome(world.net(), { url, ...request }, { signal: controller.signal, bytesMax: 1e12 });
    await until(() => world.open === connections && world.names.asked("silent.example", "A") > 0);
    const during = world.open;
    controller.abort();
    const outcome = await done;
    bar.check("cancellation", during === connections && outcome === "aborted", () => `${url}: ${outcome}, ${during} connections`);
    bar.check("cancellation", await waitUntilClosed(), () => `${url}: the connection stayed open`);
  }
  const response = await world.net().fetch({ url: `${A}/endless`, method: "GET", headers: {} });
  await response.body.cancel();
  bar.check("cancellation", await waitUntilClosed(), () => "a cancelled body left its connection open");
}

function sources(): void {
  const { files, strays } = strayConnections();
  bar.numbers["source files"] = files;
  bar.check("imports", strays.length === 0, () => strays.join("; "));
  // Checks the rule itself, on texts that it must find and texts that it must ignore.
  const found = [
    'import x from "node:net";',
    'await import("https")',
    'require(a ? "node:http" : "node:https")',
    "await fetch(url)",
    "x = fetch;",
  ];
  for (const text of [
    ...found,
    'import http from "isomorphic-git/http/node";',
    "new WebSocket(url)",
    'export * from "undici"',
    "globalThis.fetch(x)",
  ])
    bar.check("imports", waysOut(text).size > 0, () => `not found: ${text}`);
  for (const text of [
    "net.fetch(x)",
    "async fetch(request: Request) {}",
    "// fetch(x)",
    'import { x } from "./net.ts"',
    "app.fetch",
    "this.#fetch(x)",
  ])
    bar.check("imports", waysOut(text).size === 0, () => `found in vain: ${text}`);
  const loads: [string, string][] = [
    ['import { auth, type X as Y } from "@modelcontextprotocol/client";', "auth X"],
    ['import * as all from "@modelcontextprotocol/client";', "*"],
    ['const { auth } = await import("@modelcontextprotocol/client/stdio");', "*"],
    ['import type { A } from "@modelcontextprotocol/client";\nexport * from "@modelcontextprotocol/core";', "A *"],
    ["// @modelcontextprotocol/client", ""],
  ];
  for (const [text, names] of loads)
    bar.check("imports", namesOfMcpClient(text).join(" ") === names, () => `${text}: ${namesOfMcpClient(text).join(" ")}`);
}

/** "ok" for a body that was read to its end, or the kind of failure. */
async function fetchOutcome(
  net: Net,
  request: Partial<NetRequest>,
  options: NetOptions = {},
  as = (error: NetError): string => error.kind,
): Promise<string> {
  try {
    const response = await net.fetch({ url: "", method: "GET", headers: {}, ...request }, options);
    const reader = response.body.getReader();
    while (!(await reader.read()).done);
    return "ok";
  } catch (error) {
    if (error instanceof NetError) return as(error);
    return `not a NetError: ${String(error)}`;
  }
}

function checkCanaries(during: string): void {
  const wrong = world.takeDialled().filter((address) => !Object.values<string>(PUBLIC).includes(address) && address !== "127.0.0.1");
  bar.check("canaries", world.canaryHits === 0, () => `${world.canaryHits} canary hits during ${during}`);
  bar.check("canaries", wrong.length === 0, () => `${during}: connected to ${wrong.join(", ")}`);
}

/** Resolves to true once no public server has an open connection. */
function waitUntilClosed(): Promise<boolean> {
  return until(() => world.open === 0);
}

/** Resolves to false if the condition does not hold within half a minute. */
async function until(condition: () => boolean): Promise<boolean> {
  for (let at = 0; at < 3_000 && !condition(); at++) await new Promise((resolve) => setTimeout(resolve, 10));
  return condition();
}
