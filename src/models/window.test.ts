// Self-hosted servers are asked for their context size.

import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { testModels } from "../../test/support/models/ask.ts";
import { ScriptedProvider } from "../../test/support/models/provider.ts";
import type { WindowOverrides } from "./window.ts";

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
beforeEach(() => {
  provider.pages.clear();
  provider.asked.length = 0;
});
afterAll(() => provider.close());

const NONE: WindowOverrides = { user: null, system: null };
const of = (id: string, overrides = NONE, models = testModels()) =>
  models.contextWindow({ ...provider.choice("chat"), provider: id }, overrides);

it("the user's setting comes first, then the model's window, then root's setting, then nothing", async () => {
  const models = testModels();
  const claude = { ...provider.choice("anthropic"), model: "claude-opus-5-5", baseUrl: null };
  expect(await models.contextWindow(claude, { user: 5, system: 7 })).toEqual({ tokens: 5, source: "config" });
  expect(await models.contextWindow(claude, { user: null, system: 7 })).toEqual({ tokens: 1_000_000, source: "model" });
  expect(await models.contextWindow({ ...claude, model: "x" }, { user: null, system: 7 })).toEqual({ tokens: 7, source: "config" });
  expect(await models.contextWindow({ ...claude, model: "x" }, NONE)).toEqual({ tokens: null, source: "unknown" });
  const catalogue = () => '{"anthropic/x": {"contextWindow": 9}}';
  expect(await testModels({ catalogue }).contextWindow({ ...claude, model: "x" }, NONE)).toEqual({ tokens: 9, source: "model" });
  expect(provider.asked.length).toBe(0);
});

it("asks each kind of server in its own way", async () => {
  provider.pages.set("/props", { default_generation_settings: { n_ctx: 8192 } });
  expect(await of("llamacpp")).toEqual({ tokens: 8192, source: "model" });
  expect(await of("openai-compatible")).toEqual({ tokens: 8192, source: "model" });
  provider.pages.set("/v1/models", { data: [{ id: "other" }, { id: "scripted", max_model_len: 4096 }] });
  expect(await of("vllm")).toEqual({ tokens: 4096, source: "model" });
  provider.pages.set("/api/v0/models", { data: [{ id: "scripted", max_context_length: 131_072, loaded_context_length: 2048 }] });
  expect(await of("lmstudio")).toEqual({ tokens: 2048, source: "model" });
  provider.pages.set("/api/show", { model_info: { "general.architecture": "llama", "llama.context_length": 131_072 } });
  expect(await of("ollama")).toEqual({ tokens: 131_072, source: "model" });
  provider.pages.set("/api/show", { parameters: "stop x\nnum_ctx                        16384\n", model_info: {} });
  expect(await of("ollama")).toEqual({ tokens: 16_384, source: "model" });
  provider.pages.set("/api/ps", { models: [{ name: "scripted:latest", context_length: 4096 }] });
  expect(await of("ollama")).toEqual({ tokens: 4096, source: "model" });
});

it("caches the window for a while, and an invalid response counts as unknown", async () => {
  let now = 0;
  const models = testModels({ now: () => now });
  provider.pages.set("/props", { default_generation_settings: { n_ctx: 8192 } });
  await of("llamacpp", NONE, models);
  await of("llamacpp", NONE, models);
  expect(provider.asked.length).toBe(1);
  now += 11 * 60_000;
  await of("llamacpp", NONE, models);
  expect(provider.asked.length).toBe(2);
  provider.pages.set("/v1/models", "nonsense");
  expect(await of("vllm", { user: null, system: 3 }, models)).toEqual({ tokens: 3, source: "config" });
  const nobody = { ...provider.choice("chat"), provider: "ollama", baseUrl: "http://127.0.0.1:1/v1" };
  expect(await models.contextWindow(nobody, NONE)).toEqual({ tokens: null, source: "unknown" });
});
