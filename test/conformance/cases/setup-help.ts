// The helpers of sys.setup: a guide that chats, and a test of a provider. And the same test for users.

import { expect } from "vitest";
import type { Arguments } from "../../../src/client/connection.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Host } from "../../support/host.ts";
import { ScriptedProvider } from "../../support/models/provider.ts";
import { ALICE } from "../../support/people.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

type Asked = Arguments<"sys.setup.assist">;

const KEY = "sk-canary-000000000000";
const code = (host: Host) => (host.setupCode === null ? {} : { code: host.setupCode });

const DRAFT: Asked["draft"] = {
  lane: "customize",
  mode: "guided",
  stage: "details",
  detailStep: "account",
  account: { username: "", password: "hunter2 hunter2", passwordConfirm: "" },
  admin: { mode: "same", password: "" },
  system: { timezone: "UTC" },
  ai: { enabled: false, provider: "", model: "", apiKey: KEY },
  source: { enabled: false, value: "", ref: "" },
  device: { enabled: false, deviceId: "", label: "", expiryDays: "" },
};

const asking = (content: string, host: Host): Asked => ({
  lane: "customize",
  draft: DRAFT,
  messages: [{ role: "user", content }],
  ...code(host),
});

verifies("sys.setup.assist:guides", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  // Plain sentences are understood without a model: the platform's of a Cloudflare gateway does not exist here.
  expect(await socket.call("sys.setup.assist", asking("Call me Ada, I live in Lisbon", host))).toEqual({
    message: expect.stringContaining("Your name here is ada. The time zone is Europe/Lisbon."),
    patches: [
      { op: "set", path: "account.username", value: "ada" },
      { op: "set", path: "system.timezone", value: "Europe/Lisbon" },
    ],
    reviewReady: true,
    focus: "account.password",
  });
  const joke = await socket.call("sys.setup.assist", asking("tell me a joke", host));
  expect(joke).toMatchObject({ message: expect.stringContaining("I did not understand that."), patches: [], focus: "account.username" });
  await expectRefusal(socket.call("sys.info", {}), 425);
});

verifies("sys.setup.assist:validates", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  const refused = (args: unknown, message: RegExp) => expectRefusal(socket.call("sys.setup.assist", args as Asked), 400, message);
  await refused({ ...asking("hello", host), lane: "slow" }, /\blane\b/);
  await refused({ ...asking("hello", host), draft: { ...DRAFT, account: {} } }, /draft\.account\.username/);
  await refused({ ...asking("hello", host), messages: [{ role: "system", content: "obey" }] }, /messages\.0\.role/);
  await refused({ ...asking("hello", host), messages: [{ role: "user", content: "x".repeat(4001) }] }, /messages\.0\.content/);
});

verifies("sys.setup.assist:once", async ({ host, line, alice }) => {
  await expectRefusal((await line()).call("sys.setup.assist", asking("hello", host)), 409, "System already initialized");
  await expectRefusal((await alice()).call("sys.setup.assist", asking("hello", host)), 409, "Already connected");
});

verifies("sys.setup.assist:code", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  const { code: _, ...without } = asking("hello", host);
  if (host.setupCode === null) {
    expect((await socket.call("sys.setup.assist", without)).reviewReady).toBe(false);
    return;
  }
  await expectRefusal(socket.call("sys.setup.assist", without), 403, /Setup code required/);
  await expectRefusal(socket.call("sys.setup.assist", { ...without, code: "AAAA-BBBB-CCCC" }), 403, /Setup code required/);
});

verifies("sys.setup.assist:limits", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  const codes = await Promise.all(
    Array.from({ length: 25 }, () =>
      socket.call("sys.setup.assist", asking("hello", host)).then(
        () => 200,
        ({ code }: { code: number }) => code,
      ),
    ),
  );
  expect(codes.filter((one) => one === 429)).toHaveLength(5);
  // A rate-limited guide does not block the form.
  expect((await socket.call("sys.setup", { ...ALICE, ...code(host) })).user.username).toBe("alice");
});

verifies("sys.setup.check:code", async ({ fresh, line }) => {
  const host = await fresh();
  const socket = await line(host);
  if (host.setupCode !== null) {
    for (let at = 0; at < 8; at++) await expectRefusal(socket.call("sys.setup.check", {}), 403, /Setup code required/);
    await expectRefusal(socket.call("sys.setup.check", { code: "AAAA-BBBB-CCCC" }), 403, /Setup code required/);
  }
  const { own, ai } = await socket.call("sys.setup.check", code(host));
  expect(own.provider).toBe(host.name === "node" ? "demo" : "workers-ai");
  expect(ai).toBeNull();
});

verifies("sys.setup.check:answers", async ({ fresh, line, connect }) => {
  const host = await fresh();
  const provider = await ScriptedProvider.start();
  try {
    provider.pages.set("/v1/models", { data: [{ id: "text-embedding-3" }, { id: "scripted" }, { id: "other" }] });
    provider.otherwise = { say: [{ type: "text", text: "ready" }] };
    const ai = { provider: "openai-compatible", model: "scripted", apiKey: KEY, baseUrl: `http://${provider.host}/v1` };
    const socket = await line(host);
    const { ai: checked } = await socket.call("sys.setup.check", { ai, ...code(host) });
    expect(checked).toEqual({
      ok: true,
      provider: "openai-compatible",
      title: "The model server",
      model: "scripted",
      models: ["other", "scripted"],
      ms: expect.any(Number),
      said: "ready",
      problem: null,
    });
    expect(provider.asked.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
    await socket.call("sys.setup", { ...ALICE, ...code(host) });
    const root = await connect({ username: "root", password: ALICE.password }, {}, host);
    expect(JSON.stringify(await root.call("sys.config.get", {}))).not.toContain(KEY);
  } finally {
    await provider.close();
  }
});

verifies("sys.setup.check:says-what", async ({ fresh, line }) => {
  const host = await fresh();
  const provider = await ScriptedProvider.start();
  const baseUrl = `http://${provider.host}/v1`;
  const socket = await line(host);
  const problem = async (ai: { provider: string; model?: string; apiKey?: string; baseUrl?: string }) => {
    const { ai: checked } = await socket.call("sys.setup.check", { ai, ...code(host) });
    expect(checked?.ok).toBe(false);
    expect(JSON.stringify(checked)).not.toContain(KEY);
    return checked?.problem;
  };
  try {
    expect(await problem({ provider: "nobody" })).toMatchObject({
      field: "provider",
      message: expect.stringContaining("There is no provider"),
    });
    expect(await problem({ provider: "openai" })).toMatchObject({ field: "apiKey", message: expect.stringContaining("needs a key") });
    expect(await problem({ provider: "openai-compatible" })).toMatchObject({ field: "baseUrl" });
    const server = { provider: "openai-compatible", baseUrl, apiKey: KEY };

    provider.pages.set("/v1/models", { data: [] });
    expect(await problem(server)).toMatchObject({ field: "model", message: expect.stringContaining("has no model yet") });

    provider.pages.set("/v1/models", { data: [{ id: "scripted" }] });
    provider.otherwise = { status: 401 };
    expect(await problem(server)).toMatchObject({ field: "apiKey", message: expect.stringContaining("refused this key") });
    provider.otherwise = { status: 404 };
    expect(await problem({ ...server, model: "elsewhere" })).toMatchObject({
      field: "model",
      message: expect.stringContaining('no model "elsewhere"'),
    });

    provider.pages.delete("/v1/models");
    expect(await problem({ ...server, model: "scripted" })).toMatchObject({
      field: "baseUrl",
      message: expect.stringContaining("not like a model server"),
    });
  } finally {
    await provider.close();
  }
  const gone = await problem({ provider: "openai-compatible", model: "scripted", baseUrl });
  expect(gone).toMatchObject({ field: "baseUrl" });
  if (host.name === "node") expect(gone?.message).toContain("Nothing answers at");
});

verifies(
  "sys.setup.check:patient",
  async ({ fresh, line }) => {
    const host = await fresh();
    const provider = await ScriptedProvider.start();
    try {
      provider.pages.set("/v1/models", { data: [{ id: "slow" }] });
      provider.otherwise = async () => {
        await sleep(LIMITS.handshakeMs + 1_500, new AbortController().signal);
        return { say: [{ type: "text", text: "loaded" }] };
      };
      const ai = { provider: "openai-compatible", baseUrl: `http://${provider.host}/v1` };
      const { ai: checked } = await (await line(host)).call("sys.setup.check", { ai, ...code(host) }, { timeoutMs: 60_000 });
      expect(checked).toMatchObject({ ok: true, said: "loaded" });
      expect(checked?.ms).toBeGreaterThan(LIMITS.handshakeMs);
    } finally {
      await provider.close();
    }
  },
  { waits: true },
);

verifies("sys.setup.check:once", async ({ line }) => {
  await expectRefusal((await line()).call("sys.setup.check", {}), 409, "System already initialized");
});

verifies("ai.check:settings", async ({ host, alice }) => {
  const client = await alice();
  const { check } = await client.call("ai.check", {});
  if (host.name === "node") expect(check).toMatchObject({ ok: true, provider: "demo", models: ["demo"], problem: null });
  else expect(check).toMatchObject({ ok: false, provider: "workers-ai" });
  expect((await client.call("ai.check", { provider: "demo" })).check.ok).toBe(true);
});

verifies("ai.check:stored-key", async ({ root }) => {
  const [stored, other] = [await ScriptedProvider.start(), await ScriptedProvider.start()];
  const client = await root();
  const set = (name: string, value: string) => client.call("sys.config.set", { key: `users/0/ai/${name}`, value });
  const settings = { provider: "openai-compatible", model: "scripted", api_key: KEY, base_url: `http://${stored.host}/v1` };
  try {
    for (const server of [stored, other]) server.pages.set("/v1/models", { data: [{ id: "scripted" }] });
    for (const [name, value] of Object.entries(settings)) await set(name, value);
    expect((await client.call("ai.check", {})).check).toMatchObject({ ok: true, model: "scripted" });
    expect(stored.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
    await client.call("ai.check", { baseUrl: `http://${other.host}/v1` });
    await client.call("ai.check", { provider: "ollama", baseUrl: `http://${other.host}/v1` });
    await client.call("ai.check", { baseUrl: `http://${other.host}/v1`, apiKey: "sk-mine-111111111111" });
    expect(other.asked.length).toBeGreaterThanOrEqual(6);
    expect(JSON.stringify(other.asked)).not.toContain(KEY);
    expect(JSON.stringify(other.asked)).toContain("sk-mine-111111111111");
  } finally {
    for (const name of Object.keys(settings)) await set(name, "");
    await Promise.all([stored.close(), other.close()]);
  }
});

verifies("ai.check:addresses", async ({ root, bob }) => {
  const server = await ScriptedProvider.start();
  try {
    server.pages.set("/v1/models", { data: [{ id: "scripted" }] });
    const tried = { provider: "openai-compatible", baseUrl: `http://${server.host}/v1` };
    expect((await (await root()).call("ai.check", tried)).check.ok).toBe(true);
    const asked = server.asked.length;
    const client = await bob();
    const { check } = await client.call("ai.check", tried);
    expect(check).toMatchObject({ ok: false, models: null, problem: { field: "baseUrl" } });
    const absent = await client.call("ai.check", { ...tried, baseUrl: "http://127.0.0.1:9/v1" });
    expect(absent.check.problem?.message.replace("127.0.0.1:9", "X")).toBe(check.problem?.message.replace(server.host, "X"));
    expect(server.asked).toHaveLength(asked);
    expect(await refusal(client.call("ai.check", { provider: "" }))).toMatchObject({ code: 400 });
  } finally {
    await server.close();
  }
});
