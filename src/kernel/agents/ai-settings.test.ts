// AI settings of one user: their own take precedence over the system's, and a key is sent only where its owner meant it to go.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { makeConfigDefaults } from "../defaults.ts";
import { makeAllowList } from "../egress/allow.ts";
import { Config } from "../nouns/config.ts";
import { migrate } from "../schema/migrate.ts";
import { readAiSettings, listRootsModelServers } from "./ai-settings.ts";

const UID = 1000;
const SYSTEM_KEY = "sk-system";
const OWN_KEY = "sk-own";

function configWith(values: Record<string, string>): { config: Config; sql: MemorySql } {
  const sql = new MemorySql();
  migrate(sql);
  const config = new Config(
    sql,
    memoryCrypto(new Random("settings")),
    makeConfigDefaults({ version: "1", model: { provider: "demo", model: "demo" } }),
  );
  for (const [key, value] of Object.entries(values)) config.set(key, value);
  return { config, sql };
}

/** "own/" and "system/" stand for the two prefixes of a setting. */
function settingsOf(values: Record<string, string>) {
  const keyed = Object.entries(values).map(([name, value]) => [
    name.replace(/^own\//, `users/${UID}/ai/`).replace(/^system\//, "config/ai/"),
    value,
  ]);
  return readAiSettings(configWith(Object.fromEntries(keyed) as Record<string, string>).config, UID);
}

test("a new gateway uses the model of its host and the defaults", () => {
  expect(settingsOf({})).toEqual({
    choiceFrom: "gateway",
    choice: { provider: "demo", model: "demo", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 8192 },
    fallback: null,
    contextWindow: { user: null, system: 256_000 },
    catalogue: new Map(),
    maxContextBytes: 32_768,
    timezone: "UTC",
    problems: [],
  });
});

test("a user's settings take precedence over the system's, and empty ones are ignored", () => {
  const { choice, contextWindow, maxContextBytes, timezone, problems } = settingsOf({
    "system/provider": "openai",
    "system/model": "gpt-5",
    "system/api_key": SYSTEM_KEY,
    "system/reasoning": "low",
    "system/max_context_bytes": "1000",
    "config/server/timezone": "Europe/Berlin",
    "own/model": "gpt-5-mini",
    "own/reasoning": " high\n",
    "own/max_tokens": "100",
    "own/context_window_tokens": "9000",
    "own/max_context_bytes": "",
    "own/timezone": "Asia/Tokyo",
  });
  expect(choice).toEqual({
    provider: "openai",
    model: "gpt-5-mini",
    apiKey: SYSTEM_KEY,
    baseUrl: null,
    reasoning: "high",
    maxOutputTokens: 100,
  });
  expect({ contextWindow, maxContextBytes, timezone, problems }).toEqual({
    contextWindow: { user: 9000, system: 256_000 },
    maxContextBytes: 1000,
    timezone: "Asia/Tokyo",
    problems: [],
  });
});

test("an invalid setting counts as not set, and is reported without its value", () => {
  const { choice, contextWindow, maxContextBytes, timezone, catalogue, problems } = settingsOf({
    "own/reasoning": "canary",
    "system/reasoning": "low",
    "own/max_tokens": "-canary",
    "system/max_tokens": "0",
    "own/context_window_tokens": "1e9",
    "own/max_context_bytes": "99999999999",
    "own/timezone": "canary",
    "system/catalogue": "canary",
  });
  expect(choice).toMatchObject({ reasoning: "low", maxOutputTokens: 8192 });
  expect({ contextWindow, maxContextBytes, timezone, catalogue }).toEqual({
    contextWindow: { user: null, system: 256_000 },
    maxContextBytes: 32_768,
    timezone: "UTC",
    catalogue: new Map(),
  });
  expect(problems.map((problem) => problem.slice(0, problem.indexOf(" "))).toSorted()).toEqual([
    "config/ai/catalogue",
    "config/ai/max_tokens",
    "users/1000/ai/context_window_tokens",
    "users/1000/ai/max_context_bytes",
    "users/1000/ai/max_tokens",
    "users/1000/ai/reasoning",
    "users/1000/ai/timezone",
  ]);
  expect(problems.join()).not.toContain("canary");
});

test("a key that cannot be opened is a problem, not an error", () => {
  const { config, sql } = configWith({ "config/ai/provider": "openai", "config/ai/model": "gpt-5", "config/ai/api_key": SYSTEM_KEY });
  sql.run("UPDATE config_kv SET value = 'damaged' WHERE key = 'config/ai/api_key'");
  const { choice, problems } = readAiSettings(config, UID);
  const problem = "config/ai/api_key cannot be opened: set it again, or restore the gateway's secret key from a backup";
  expect(choice).toMatchObject({ apiKey: "", unusable: problem });
  expect(problems).toEqual([problem]);
});

test("the system's key is not used if a user's own key cannot be opened", () => {
  const { config, sql } = configWith({
    "config/ai/provider": "openai",
    "config/ai/model": "gpt-5",
    "config/ai/api_key": SYSTEM_KEY,
    [`users/${UID}/ai/provider`]: "openai",
    [`users/${UID}/ai/api_key`]: OWN_KEY,
    [`users/${UID}/ai/fallback/model`]: "gpt-5-mini",
  });
  sql.run("UPDATE config_kv SET value = 'damaged' WHERE key LIKE 'users/%/api_key'");
  const { choice, fallback } = readAiSettings(config, UID);
  const unusable = expect.stringContaining(`users/${UID}/ai/api_key cannot be opened`) as string;
  expect(choice).toMatchObject({ model: "gpt-5", apiKey: "", unusable });
  expect(fallback).toMatchObject({ model: "gpt-5-mini", apiKey: "", unusable });
});

const SYSTEM = { "system/provider": "anthropic", "system/model": "claude", "system/api_key": SYSTEM_KEY };
const PROXY = { ...SYSTEM, "system/base_url": "https://proxy.example/v1" };

test.each([
  ["another provider", PROXY, { "own/provider": "openai", "own/model": "gpt-5" }, ["openai", "gpt-5", "", null]],
  ["with a key", PROXY, { "own/provider": "openai", "own/model": "m", "own/api_key": OWN_KEY }, ["openai", "m", OWN_KEY, null]],
  ["a server", SYSTEM, { "own/base_url": "https://mine.example/v1" }, ["anthropic", "claude", "", "https://mine.example/v1"]],
  [
    "a server with a key",
    PROXY,
    { "own/base_url": "https://mine.example/v1", "own/api_key": OWN_KEY },
    ["anthropic", "claude", OWN_KEY, "https://mine.example/v1"],
  ],
  ["the same provider", PROXY, { "own/provider": "anthropic" }, ["anthropic", "claude", SYSTEM_KEY, "https://proxy.example/v1"]],
  ["the same with a key", PROXY, { "own/provider": "anthropic", "own/api_key": OWN_KEY }, ["anthropic", "claude", OWN_KEY, null]],
  ["a key alone", PROXY, { "own/api_key": OWN_KEY }, ["anthropic", "claude", SYSTEM_KEY, "https://proxy.example/v1"]],
])("a key is sent only where its owner meant it to go: %s", (_, system, own, expected) => {
  const { provider, model, apiKey, baseUrl } = settingsOf({ ...system, ...own }).choice;
  expect([provider, model, apiKey, baseUrl]).toEqual(expected);
});

test("a problem names the setting that is missing", () => {
  expect(settingsOf({ ...SYSTEM, "own/api_key": OWN_KEY }).problems).toEqual([
    "users/1000/ai/api_key is not used: set users/1000/ai/provider as well, to say which provider it is for",
  ]);
  expect(settingsOf({ ...SYSTEM, "own/provider": "openai" }).problems).toEqual(["No model is chosen for openai: set users/1000/ai/model"]);
});

test("no combination of settings sends a user's key to the system's server, or the system's key to the user's", () => {
  const value = (values: string[]) => fc.option(fc.constantFrom(...values), { nil: "" });
  const layer = (side: "own" | "system") =>
    fc.record({
      provider: value(["openai", "anthropic", "openai-compatible"]),
      model: value([`${side}-model`]),
      api_key: value([`${side}-key`]),
      base_url: value([`https://${side}.example/v1`]),
      "fallback/provider": value(["openai", "anthropic", "none"]),
      "fallback/model": value([`${side}-fallback`]),
      "fallback/api_key": value([`${side}-key`]),
      "fallback/base_url": value([`https://${side}.example/v1`]),
    });
  fc.assert(
    fc.property(layer("own"), layer("system"), (own, system) => {
      const values = [
        ...Object.entries(own).map(([k, v]) => [`own/${k}`, v]),
        ...Object.entries(system).map(([k, v]) => [`system/${k}`, v]),
      ];
      const { choice, fallback } = settingsOf(Object.fromEntries(values) as Record<string, string>);
      for (const chosen of [choice, fallback]) {
        if (chosen === null) continue;
        if (chosen.apiKey === "own-key") expect(chosen.baseUrl).not.toBe("https://system.example/v1");
        if (chosen.apiKey === "system-key") expect(chosen.baseUrl).not.toBe("https://own.example/v1");
        // Without a base URL the provider's own server is used: the owner of the key must have chosen that provider.
        if (chosen.apiKey === "own-key" && chosen.baseUrl === null)
          expect([own.provider, own["fallback/provider"]]).toContain(chosen.provider);
        if (chosen.apiKey === "system-key" && chosen.baseUrl === null)
          expect([system.provider, system["fallback/provider"]]).toContain(chosen.provider);
      }
    }),
    { numRuns: 500 },
  );
});

test("a fallback has its own endpoint, or that of the main model", () => {
  const fallback = (values: Record<string, string>) => {
    const found = settingsOf({ ...SYSTEM, ...values }).fallback;
    return found && [found.provider, found.model, found.apiKey, found.baseUrl];
  };
  expect(fallback({})).toBeNull();
  expect(fallback({ "system/fallback/model": "small" })).toEqual(["anthropic", "small", SYSTEM_KEY, null]);
  const other = { "system/fallback/provider": "openai", "system/fallback/model": "gpt", "system/fallback/api_key": "sk-other" };
  expect(fallback(other)).toEqual(["openai", "gpt", "sk-other", null]);
  expect(fallback({ ...other, "system/fallback/api_key": "" })).toEqual(["openai", "gpt", "", null]);
  expect(fallback({ ...other, "own/fallback/provider": "none" })).toBeNull();
  expect(fallback({ "system/fallback/provider": "openai" })).toBeNull();
  // A user with an endpoint of their own does not fall back to the system's.
  const local = { "own/base_url": "http://10.0.0.5:8080/v1", "own/model": "mine" };
  expect(fallback({ ...other, ...local })).toBeNull();
  expect(fallback({ ...other, ...local, "own/fallback/model": "smaller" })).toEqual([
    "anthropic",
    "smaller",
    "",
    "http://10.0.0.5:8080/v1",
  ]);
});

test("the gateway may reach private servers that root chose, and none that a user chose", () => {
  const may = (values: Record<string, string>, host: string, port: number) => {
    const { config } = configWith(values);
    return makeAllowList(config.get("config/net/allowed_hosts"), ...listRootsModelServers(config))(host, port);
  };
  expect(may({}, "127.0.0.1", 11434)).toBe(false);
  expect(may({ "config/ai/provider": "ollama" }, "127.0.0.1", 11434)).toBe(true);
  expect(may({ "config/ai/provider": "ollama" }, "127.0.0.1", 8080)).toBe(false);
  expect(may({ "config/ai/provider": "ollama" }, "localhost", 11434)).toBe(false);
  expect(may({ "config/ai/fallback/provider": "llamacpp" }, "127.0.0.1", 8080)).toBe(true);
  const elsewhere = { "config/ai/provider": "ollama", "config/ai/base_url": "http://10.0.0.5:11434/v1" };
  expect(may(elsewhere, "10.0.0.5", 11434)).toBe(true);
  expect(may(elsewhere, "127.0.0.1", 11434)).toBe(false);
  const users = { "users/1000/ai/provider": "ollama", "users/1000/ai/base_url": "http://127.0.0.1:11434/v1" };
  expect(may(users, "127.0.0.1", 11434)).toBe(false);
  expect(may({ ...users, "config/net/allowed_hosts": "127.0.0.1:11434" }, "127.0.0.1", 11434)).toBe(true);
});
