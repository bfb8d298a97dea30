import { describe, expect, test } from "vitest";
import type { ReadDownload } from "./downloads.ts";
import { serveWeb } from "./web.ts";

const ORIGIN = "http://gsv.example:8787";
const FILES: Record<string, string> = {
  "web/index.html": "<!doctype html>",
  "web/index.html.br": "page in br",
  "web/index.html.gz": "page in gzip",
  "web/index.html.sha256": "ab".repeat(32),
  "web/favicon.svg": "<svg/>",
  "web/icon-maskable-512.png": "drawn",
  "web/apple-touch-icon.png": "drawn",
  "web/assets/main-1a2b.js": "go()",
  "web/assets/main-1a2b.js.br": "go in br",
  "web/assets/main-1a2b.js.gz": "go in gzip",
  "web/push-worker.js": "listen()",
  "gsv.mjs": "the command line",
};
const readNames: string[] = [];
const read: ReadDownload = (name) => {
  readNames.push(name);
  return Promise.resolve(name in FILES ? new TextEncoder().encode(FILES[name]) : null);
};

describe("pages", () => {
  test("are the same for every address of the desktop", async () => {
    for (const path of ["/", "/chat", "/chat/4f1c", "/machines/my%20laptop", "/chat?beside=/machines", "/@alice/notes.md"]) {
      const response = await get(path, { accept: "text/html,*/*" });
      expect([path, response?.status, await response?.text()]).toEqual([path, 200, "<!doctype html>"]);
      expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    }
  });

  test("are not sent to programs that request an unknown path", async () => {
    expect(await get("/chat")).toBeNull();
    expect(await get("/chat", { accept: "application/json" })).toBeNull();
    expect((await get("/"))?.status).toBe(200);
  });

  test("are not served at paths that belong to other routes", async () => {
    for (const path of [
      "/ws",
      "/git/alice/x",
      "/downloads/cli/nothing",
      "/apps/x",
      "/oauth/callback",
      "/push/answer",
      "/.well-known/x",
      "/metrics",
      "/health",
      "//x",
      "/a/../b/%2e%2e/.x",
    ]) {
      expect([path, await get(path, { accept: "text/html" })]).toEqual([path, null]);
    }
    expect(await serveWeb(new Request(`${ORIGIN}/`, { method: "POST" }), ORIGIN, read)).toBeNull();
  });

  test("run only scripts from this gateway, and cannot be framed", async () => {
    const headers = (await get("/"))!.headers;
    const policy = new Map(
      headers
        .get("content-security-policy")!
        .split("; ")
        .map((rule) => [rule.split(" ")[0], rule.split(" ").slice(1).join(" ")]),
    );
    expect(Object.fromEntries(policy)).toMatchObject({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "connect-src": "'self' ws://gsv.example:8787",
      "img-src": "'self' blob: data:",
      "frame-ancestors": "'none'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "require-trusted-types-for": "'script'",
    });
    expect(headers.get("content-security-policy")).not.toMatch(/unsafe|\*/);
    expect(policy.get("trusted-types"), "the one policy that makes the address of the push worker").toBe("push-worker");
    expect(headers.get("permissions-policy")).toContain("microphone=()");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  });

  test("may load one service worker, which connects only to this gateway and has its name in every build", async () => {
    const response = (await get("/push-worker.js"))!;
    expect([response.status, await response.text()]).toEqual([200, "listen()"]);
    expect(response.headers.get("content-type")).toContain("text/javascript");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; connect-src 'self'; frame-ancestors 'none'");
    expect(response.headers.has("service-worker-allowed")).toBe(false);
  });

  test("are revalidated, and sent again only when they have changed", async () => {
    const first = (await get("/"))!;
    expect(first.headers.get("cache-control")).toBe("no-cache");
    const etag = first.headers.get("etag")!;
    const second = (await get("/", { "if-none-match": etag }))!;
    expect([second.status, await second.text()]).toEqual([304, ""]);
    expect((await get("/", { "if-none-match": 'W/"other"' }))?.status).toBe(200);
  });
});

describe("files", () => {
  test("are cached as immutable if their name changes with their content", async () => {
    const response = (await get("/assets/main-1a2b.js"))!;
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await get("/favicon.svg"))?.headers.get("cache-control")).toBe("no-cache");
    expect((await get("/assets/gone-1a2b.js"))?.status).toBe(404);
    for (const path of ["/icon-maskable-512.png", "/apple-touch-icon.png"]) {
      const icon = (await get(path))!;
      expect([icon.status, icon.headers.get("content-type"), icon.headers.get("cache-control")]).toEqual([200, "image/png", "no-cache"]);
      expect(icon.headers.get("content-security-policy")).toContain("sandbox");
    }
    expect(await get("/icon-512.png.svg")).toBeNull();
  });

  test("are compressed with an encoding that the client accepts", async () => {
    const sent = async (accepted: string) => {
      const response = (await get("/assets/main-1a2b.js", { "accept-encoding": accepted }))!;
      expect(response.headers.get("vary")).toBe("accept-encoding");
      return [response.headers.get("content-encoding"), await response.text()];
    };
    expect(await sent("gzip, deflate, br, zstd")).toEqual(["br", "go in br"]);
    expect(await sent("gzip, br;q=0")).toEqual(["gzip", "go in gzip"]);
    expect(await sent("GZIP;q=0.5")).toEqual(["gzip", "go in gzip"]);
    expect(await sent("identity")).toEqual([null, "go()"]);
    const icon = (await get("/favicon.svg", { "accept-encoding": "br" }))!;
    expect([icon.headers.get("content-encoding"), await icon.text()]).toEqual([null, "<svg/>"]);
  });

  test("are read only from the desktop's folder, whatever the path", async () => {
    readNames.length = 0;
    for (const path of [
      "/assets/../../gsv.mjs",
      "/assets/..%2f..%2fgsv.mjs",
      "/assets/%2e%2e/gsv.mjs",
      "/assets//etc/passwd.js",
      "/assets/.hidden.js",
      "/assets/a\\..\\b.js",
      "/assets/main-1a2b.js.map",
      "/favicon.svg/x.js",
    ]) {
      const response = await get(path);
      expect([path, response === null || response.status === 404]).toEqual([path, true]);
    }
    expect(readNames.filter((name) => !/^web\/assets\/[A-Za-z0-9_.-]+$/.test(name) || name.includes(".."))).toEqual([]);
  });
});

test("serves no page without a build", async () => {
  expect(await serveWeb(new Request(`${ORIGIN}/`), ORIGIN, () => Promise.resolve(null))).toBeNull();
});

function get(path: string, headers: Record<string, string> = {}): Promise<Response | null> {
  return serveWeb(new Request(`${ORIGIN}${path}`, { headers }), ORIGIN, read);
}
