// Trials of a model, over each dialect, against a provider on loopback.

import { randomBytes, randomUUID } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedProvider, type WireName } from "../../test/support/models/provider.ts";
import { makeNodeNet } from "../hosts/node/net.ts";
import { tryModel } from "./trial.ts";

const crypto = { randomBytes: (length: number) => randomBytes(length), uuid: () => randomUUID() };
const services = { net: makeNodeNet({ isAllowed: (host) => host === "127.0.0.1" }), crypto, workersAi: undefined, now: () => Date.now() };
const signal = () => AbortSignal.timeout(20_000);

let provider: ScriptedProvider;

beforeEach(async () => {
  provider = await ScriptedProvider.start();
  provider.otherwise = { say: [{ type: "text", text: "ready" }] };
});

afterEach(() => provider.close());

test.each<[WireName, string, unknown, string[], string]>([
  ["chat", "/v1/models", { data: [{ id: "b" }, { id: "a" }, { id: "nomic-embed-text" }] }, ["a", "b"], "authorization"],
  ["responses", "/v1/models", { data: [{ id: "gpt-5-mini" }, { id: "whisper-1" }] }, ["gpt-5-mini"], "authorization"],
  [
    "anthropic",
    "/v1/models",
    { data: [{ id: "claude-opus-5" }, { id: "claude-sonnet-5" }] },
    ["claude-opus-5", "claude-sonnet-5"],
    "x-api-key",
  ],
  [
    "google",
    "/v1beta/models",
    {
      models: [
        { name: "models/gemini-3-flash", supportedGenerationMethods: ["generateContent"] },
        { name: "models/aqa", supportedGenerationMethods: ["generateAnswer"] },
      ],
    },
    ["gemini-3-flash"],
    "x-goog-api-key",
  ],
])("lists the models of a provider over %s, and asks one of them a question", async (wire, path, page, models, header) => {
  provider.pages.set(path, page);
  const { provider: id, apiKey, baseUrl } = provider.choice(wire);
  const check = await tryModel(services, { provider: id, model: "", apiKey, baseUrl }, signal());
  expect(check).toMatchObject({ ok: true, models, said: "ready", problem: null });
  expect(models).toContain(check.model);
  expect(provider.asked[0]?.headers[header]).toContain(apiKey);
});

test("prefers a suggested model to the first of the list", async () => {
  provider.pages.set("/v1/models", { data: [{ id: "claude-opus-5" }, { id: "claude-sonnet-5" }] });
  const { provider: id, apiKey, baseUrl } = provider.choice("anthropic");
  expect((await tryModel(services, { provider: id, model: "", apiKey, baseUrl }, signal())).model).toBe("claude-sonnet-5");
});

test("uses the named model if the server has no list", async () => {
  const { provider: id, baseUrl } = provider.choice("chat");
  const check = await tryModel(services, { provider: id, model: "mine", apiKey: "", baseUrl }, signal());
  expect(check).toMatchObject({ ok: true, model: "mine", models: null });
});

test("reports that a web page is not a model server", async () => {
  provider.pages.set("/models", "<html>");
  provider.otherwise = { bytes: "<html>hello</html>" };
  const check = await tryModel(
    services,
    { provider: "openai-compatible", model: "mine", apiKey: "", baseUrl: `http://${provider.host}` },
    signal(),
  );
  expect(check.problem).toMatchObject({ field: "baseUrl", message: expect.stringContaining("usually ends in /v1") });
});

test("repeats no key that a provider quotes", async () => {
  provider.pages.set("/v1/models", { data: [{ id: "scripted" }] });
  const { apiKey, baseUrl } = provider.choice("chat");
  for (const status of [400, 401, 403, 429, 500, 529]) {
    provider.otherwise = { status, body: { error: { message: `Your key ${apiKey} is not liked` } } };
    const check = await tryModel(services, { provider: "groq", model: "scripted", apiKey, baseUrl }, signal());
    expect(check.ok).toBe(false);
    expect(JSON.stringify(check)).not.toContain(apiKey);
  }
});

test("needs no network for the demo model", async () => {
  const check = await tryModel(services, { provider: "demo", model: "", apiKey: "", baseUrl: null }, signal());
  expect(check).toMatchObject({ ok: true, model: "demo", said: expect.stringContaining("not an AI") });
});
