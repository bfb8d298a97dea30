// Models inside workerd: the same code, with the providers' packages bundled into one file as in a deployment, over the
// Cloudflare host's Net port.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/ports/models.ts";
import { requestOf } from "../support/models/ask.ts";
import { ScriptedProvider } from "../support/models/provider.ts";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Runs a model request and answers with its events. */
const WORKER = `
  import { ProviderModels } from "./src/models/models.ts";
  import { makeCloudflareNet } from "./src/hosts/cloudflare/net.ts";
  const models = new ProviderModels({
    net: makeCloudflareNet({ isAllowed: () => true }),
    crypto: { randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)), uuid: () => crypto.randomUUID() },
    limits: { backoffMs: 1 },
  });
  export default {
    async fetch(request) {
      const events = [];
      for await (const event of models.stream(await request.json(), new AbortController().signal)) events.push(event);
      return Response.json(events);
    },
  };
`;

let provider: ScriptedProvider;
let miniflare: Miniflare;

beforeAll(async () => {
  provider = await ScriptedProvider.start();
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*"],
  });
  miniflare = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    workers: [
      {
        config: {
          name: "models",
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          manifest: {
            mainModule: "worker.js",
            modulesRoot: ROOT,
            modules: { "worker.js": { type: "esm", contents: outputFiles[0]!.text } },
          },
        },
      },
    ],
  });
});

afterAll(async () => {
  await miniflare.dispose();
  await provider.close();
});

async function ask(request: ModelRequest): Promise<ModelEvent[]> {
  const response = await fetch((await miniflare.ready).origin, { method: "POST", body: JSON.stringify(request) });
  expect(response.status).toBe(200);
  return (await response.json()) as ModelEvent[];
}

it.each(["chat", "responses", "anthropic", "google"] as const)("streams, calls tools and retries over %s", async (wire) => {
  const say = [
    { type: "text" as const, text: "Let me look at thät." },
    { type: "call" as const, id: "call_1", name: "Read", args: '{"target":"gsv","path":"/"}' },
  ];
  provider.on(`look over ${wire}`, { tries: [{ status: 529 }, { cut: { say }, after: 300, how: "end" }, { say }] });
  const events = await ask(requestOf(provider.choice(wire), `look over ${wire}`));
  expect(events.filter(({ type }) => type === "retrying").length).toBe(2);
  expect(events.at(-1)).toMatchObject({
    type: "done",
    stop: "tools",
    content: [say[0], { type: "toolCall", arguments: { target: "gsv" } }],
  });
});

it("includes the demo model", async () => {
  const events = await ask(requestOf({ ...provider.choice("chat"), provider: "demo" }, "read ~/a.md"));
  expect(events.at(-1)).toMatchObject({ type: "done", stop: "tools" });
});
