// How both hosts serve the web desktop, over real HTTP.

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { leaveBrowser, takeBrowser } from "../support/browser.ts";
import { startCloudflareHost } from "../support/cloudflare-host.ts";
import { type Desktop, desktopOf } from "../support/desktop.ts";
import type { Host } from "../support/host.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, populate } from "../support/people.ts";

const BUILT = fileURLToPath(new URL("../../dist/downloads", import.meta.url));

const HOSTS: [string, () => Promise<Host>][] = [
  ["node", () => startNodeHost()],
  ["cloudflare", () => startCloudflareHost({ downloads: BUILT })],
];

// Both gateways share one browser.
beforeAll(async () => {
  await takeBrowser();
});

afterAll(() => leaveBrowser());

describe.each(HOSTS)("%s", (_, start) => {
  let desktop: Desktop;

  beforeAll(async () => {
    if (!existsSync(`${BUILT}/web/index.html`)) throw new Error("The web desktop is not built: npm run build");
    const host = await start();
    await populate(host);
    desktop = await desktopOf(host);
  });

  afterAll(() => desktop?.close());

  test("sends the page and its files, compressed, with a content security policy", async () => {
    const { url } = desktop.host;
    const page = await fetch(`${url}/chat/4f1c`, { headers: { accept: "text/html", "accept-encoding": "br" } });
    expect([page.status, page.headers.get("content-encoding")]).toEqual([200, "br"]);
    expect(page.headers.get("content-security-policy")).toContain(`connect-src 'self' ${url.replace("http", "ws")};`);
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    const text = await page.text();
    const plain = await fetch(`${url}/`, { headers: { "accept-encoding": "identity" } });
    expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, text]);
    const same = await fetch(`${url}/`, { headers: { "if-none-match": page.headers.get("etag")! } });
    expect(same.status).toBe(304);

    const scripts = [...text.matchAll(/\/assets\/[\w.-]+\.js/g)].map(([path]) => path);
    expect(scripts.length).toBeGreaterThan(0);
    for (const path of scripts) {
      const [br, gzip, identity] = await Promise.all(
        ["br", "gzip", "identity"].map(async (encoding) => {
          const response = await fetch(`${url}${path}`, { headers: { "accept-encoding": encoding } });
          return {
            encoding: response.headers.get("content-encoding"),
            cache: response.headers.get("cache-control"),
            text: await response.text(),
          };
        }),
      );
      expect([br!.encoding, gzip!.encoding, identity!.encoding]).toEqual(["br", "gzip", null]);
      expect(br!.cache).toContain("immutable");
      expect([br!.text === identity!.text, gzip!.text === identity!.text]).toEqual([true, true]);
    }
    expect((await fetch(`${url}/assets/nothing-here.js`)).status).toBe(404);
    expect((await fetch(`${url}/chat`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test("lets a person log in and stay logged in", async () => {
    const page = await desktop.open("/machines");
    await page.getByLabel("Name").fill(ALICE.username);
    await page.getByLabel("Password").fill(ALICE.password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Machines" }).waitFor();
    await page.context().close();
    expect(desktop.problems).toEqual([]);
  });
});
