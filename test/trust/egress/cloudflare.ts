// The Cloudflare host's Net port in workerd. Its requests go to this process instead of the Internet, so a request that should
// not have been made is seen and goes nowhere.

import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import type { Bar } from "../bar.ts";
import { hostileUrls } from "./urls.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Makes the request it is told to, and reports the outcome. */
const WORKER = `
  import { makeCloudflareNet } from "./src/hosts/cloudflare/net.ts";
  import { makeAllowList } from "./src/kernel/egress/allow.ts";
  export default {
    async fetch(request) {
      const { url, method = "GET", headers = {}, body, options = {}, allowed } = await request.json();
      const net = makeCloudflareNet({ isAllowed: makeAllowList(allowed, undefined) });
      try {
        const response = await net.fetch({ url, method, headers, body: body && new TextEncoder().encode(body) }, options);
        return Response.json({ outcome: "ok", text: await new Response(response.body).text(), status: response.status, url: response.url });
      } catch (error) {
        return Response.json({ outcome: error.kind ?? String(error) });
      }
    },
  };
`;

type FetchOrder = { url: string; method?: string; headers?: Record<string, string>; body?: string; options?: object; allowed?: string };
type Outcome = { outcome: string; text?: string; url?: string };

export async function cloudflare(bar: Bar): Promise<void> {
  const seen: { host: string; text: string }[] = [];
  const outbound = (request: IncomingMessage, response: ServerResponse) => {
    const host = String(request.headers.host);
    seen.push({ host, text: JSON.stringify([request.method, request.url, request.headers]) });
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    if (pathname === "/to") response.writeHead(Number(searchParams.get("status")), { location: searchParams.get("url") ?? "" }).end();
    else if (pathname === "/big") response.end("x".repeat(100_000));
    else if (pathname === "/never") response.once("close", () => {});
    else response.end("ok");
  };
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    workers: [
      {
        config: {
          name: "net",
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          manifest: {
            mainModule: "worker.js",
            modulesRoot: ROOT,
            modules: { "worker.js": { type: "esm", contents: await bundleWorker() } },
          },
        },
        dev: { outboundService: { type: "node-handler", handler: outbound } },
      },
    ],
  });
  const ask = async (asked: FetchOrder): Promise<Outcome> => {
    const response = await miniflare.dispatchFetch("http://net/", { method: "POST", body: JSON.stringify(asked) });
    return (await response.json()) as Outcome;
  };
  try {
    await checkRequests(bar, ask, seen);
  } finally {
    await miniflare.dispose();
  }
}

async function checkRequests(
  bar: Bar,
  ask: (asked: FetchOrder) => Promise<Outcome>,
  seen: { host: string; text: string }[],
): Promise<void> {
  const hostile = hostileUrls(8080);
  for (const url of hostile) {
    const { outcome } = await ask({ url });
    bar.check("cloudflare", outcome === "blocked" || outcome === "bad_url", () => `${JSON.stringify(url.slice(0, 100))}: ${outcome}`);
  }
  bar.check("cloudflare", seen.length === 0, () => `fetched ${JSON.stringify(seen)}`);
  const to = (url: string, status = 302) => `http://a.example/to?status=${status}&url=${encodeURIComponent(url)}`;
  for (const url of ["http://127.0.0.1/", "http://2130706433/", "//localhost/", "http://[::ffff:7f00:1]/", "file:///etc/passwd"]) {
    const { outcome } = await ask({ url: to(url) });
    bar.check("cloudflare", outcome === "blocked" || outcome === "bad_url", () => `redirected to ${url}: ${outcome}`);
  }
  bar.check(
    "cloudflare",
    seen.every(({ host }) => host === "a.example"),
    () => `fetched ${JSON.stringify(seen)}`,
  );
  seen.length = 0;
  const secrets = { authorization: "CANARY", cookie: "CANARY", "x-api-key": "CANARY" };
  const moved = await ask({ url: to("http://b.example/x"), headers: secrets });
  const atB = seen.filter(({ host }) => host === "b.example");
  bar.check("cloudflare", moved.url === "http://b.example/x" && atB.length === 1, () => `redirect: ${JSON.stringify(moved)}`);
  bar.check("cloudflare", !JSON.stringify(atB).includes("CANARY"), () => `B got ${JSON.stringify(atB)}`);
  const cases: [FetchOrder, string][] = [
    [{ url: "http://a.example/" }, "ok"],
    [{ url: "http://a.example/", method: "POST", body: "x" }, "ok"],
    [{ url: "http://127.0.0.1:99/", allowed: "127.0.0.1:99" }, "ok"],
    [{ url: to("http://b.example/", 307), method: "POST", body: "secret" }, "blocked"],
    [{ url: to(to(to(to(to(to("http://b.example/")))))) }, "too_many_redirects"],
    [{ url: "http://a.example/big", options: { bytesMax: 99_999 } }, "too_large"],
    [{ url: "http://a.example/big", options: { bytesMax: 100_000 } }, "ok"],
    [{ url: "http://a.example/never", options: { timeoutMs: 200 } }, "timeout"],
  ];
  for (const [asked, wanted] of cases) {
    const { outcome } = await ask(asked);
    bar.check("cloudflare", outcome === wanted, () => `${JSON.stringify(asked)}: ${outcome}, wanted ${wanted}`);
  }
}

async function bundleWorker(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*"],
    logLevel: "warning",
  });
  return outputFiles[0]!.text;
}
