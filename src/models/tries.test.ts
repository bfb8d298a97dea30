// When a model is retried, rested by the breaker, or replaced by the fallback.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listen, requestOf, testModels } from "../../test/support/models/ask.ts";
import { ScriptedProvider } from "../../test/support/models/provider.ts";
import { makeNodeNet } from "../hosts/node/net.ts";

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
beforeEach(() => {
  provider.asked.length = 0;
});
afterAll(() => provider.close());

const HELLO = { say: [{ type: "text" as const, text: "hello" }] };

describe("retries", () => {
  it("wait at least as long as the provider asks", async () => {
    provider.on("wait twice", {
      tries: [{ status: 429, headers: { "retry-after": "0.05" } }, { status: 529, headers: { "retry-after-ms": "70" } }, HELLO],
    });
    const { events, end } = await listen(testModels(), requestOf(provider.choice("anthropic"), "wait twice"));
    const waits = events.flatMap((event) => (event.type === "retrying" ? [event.waitMs] : []));
    expect(waits[0]).toBeGreaterThanOrEqual(50);
    expect(waits[1]).toBeGreaterThanOrEqual(70);
    expect(end.type).toBe("done");
  });

  it("end if the wait is longer than the budget", async () => {
    provider.on("wait an hour", { status: 429, headers: { "retry-after": "3600" } });
    const { end } = await listen(testModels(), requestOf(provider.choice("chat"), "wait an hour"));
    expect(end).toMatchObject({ type: "error", error: { kind: "rate-limited" } });
    expect(end.type === "error" && end.error.message).toContain("3600 s");
    expect(provider.asked.length).toBe(1);
  });

  it("accept a date as the wait", async () => {
    let now = Date.parse("2026-11-15T12:00:00Z");
    provider.on("wait until a date", { status: 503, headers: { "retry-after": "Sun, 15 Nov 2026 12:02:00 GMT" } });
    const stop = new AbortController();
    const models = testModels({ now: () => now++ });
    for await (const event of models.stream(requestOf(provider.choice("chat"), "wait until a date"), stop.signal)) {
      if (event.type !== "retrying") expect(event).toMatchObject({ type: "error", error: { kind: "aborted" } });
      else {
        expect(event.waitMs).toBeGreaterThan(119_000);
        stop.abort();
      }
    }
  });

  it("are not made if the account has no credit", async () => {
    const body = {
      error: { message: "You exceeded your current quota, please check your plan and billing details.", code: "insufficient_quota" },
    };
    provider.on("exceed the quota", { status: 429, body }).on("exceed the credit", { status: 402 });
    for (const prompt of ["exceed the quota", "exceed the credit"]) {
      const { end } = await listen(testModels(), requestOf(provider.choice("responses"), prompt));
      expect(end).toMatchObject({ type: "error", error: { kind: "other" } });
      expect(end.type === "error" && end.error.message).toContain("credit");
    }
    expect(provider.asked.length).toBe(2);
  });

  it("follow an error in the middle of an answer, and void it", async () => {
    const begun =
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}\n\nevent: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hal"}}\n\n';
    const broken = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    provider.on("break off once", { tries: [{ bytes: begun + broken }, HELLO] });
    const { events, end } = await listen(testModels(), requestOf(provider.choice("anthropic"), "break off once"));
    expect(events.map(({ type }) => type).slice(0, 4)).toEqual(["text_start", "text_delta", "text_end", "retrying"]);
    expect(events[3]).toMatchObject({ why: expect.stringContaining("Overloaded") as string });
    expect(end).toMatchObject({ type: "done", content: HELLO.say });
  });
});

it.each(["chat", "anthropic"] as const)("does not wait for the connection to close after the end of an answer over %s", async (wire) => {
  provider.on(`keep the connection over ${wire}`, { hang: true, script: HELLO, after: 1e6 });
  const { events, end } = await listen(testModels(), requestOf(provider.choice(wire), `keep the connection over ${wire}`));
  expect(end).toMatchObject({ type: "done", content: HELLO.say });
  expect(events.some(({ type }) => type === "retrying")).toBe(false);
});

describe("a fallback", () => {
  it("answers if the chosen model cannot, and is named", async () => {
    provider.on("need the fallback", ({ path }) => (path === "/v1/messages" ? HELLO : { status: 500 }));
    const request = requestOf(provider.choice("chat"), "need the fallback", { fallback: provider.choice("anthropic", { model: "other" }) });
    const { end } = await listen(testModels(), request);
    expect(end).toMatchObject({ type: "done", content: HELLO.say, by: { provider: "anthropic", model: "other" } });
    expect(provider.asked.map(({ path }) => path)).toEqual([...Array.from({ length: 3 }, () => "/v1/chat/completions"), "/v1/messages"]);
  });

  it("is not called if the conversation is too long", async () => {
    provider.on("be too long", { status: 413 });
    const request = requestOf(provider.choice("chat"), "be too long", { fallback: provider.choice("anthropic") });
    expect((await listen(testModels(), request)).end).toMatchObject({ type: "error", error: { kind: "too-long" } });
    expect(provider.asked.length).toBe(1);
  });
});

describe("the breaker", () => {
  it("stops calls to a model that keeps failing, and lets one call probe it after a while", async () => {
    let now = 1_000_000;
    const models = testModels({ now: () => now, limits: { tries: 1 } });
    const request = requestOf(provider.choice("chat"), "keep failing");
    let isDown = true;
    provider.on("keep failing", () => (isDown ? { status: 503 } : HELLO));
    for (let at = 0; at < 5; at++) await listen(models, request);
    expect(provider.asked.length).toBe(5);
    isDown = false;
    const { end } = await listen(models, request);
    expect(end).toMatchObject({ type: "error", error: { kind: "overloaded" } });
    expect(provider.asked.length).toBe(5);
    // Another model and another key are not affected.
    for (const other of [{ model: "other" }, { apiKey: "sk-other" }])
      expect((await listen(models, { ...request, choice: provider.choice("chat", other) })).end.type).toBe("done");
    now += 31_000;
    isDown = true;
    expect((await listen(models, request)).end.type).toBe("error");
    isDown = false;
    expect((await listen(models, request)).end.type).toBe("error");
    expect(provider.asked.length).toBe(8);
    now += 31_000;
    expect((await listen(models, request)).end.type).toBe("done");
    expect((await listen(models, request)).end.type).toBe("done");
  });
});

describe("an unusable choice", () => {
  it("says what to set", async () => {
    const models = testModels();
    const errorOf = async (choice: Parameters<typeof requestOf>[0]) => {
      const { end } = await listen(models, requestOf(choice, "hi"));
      return end.type === "error" ? end.error : null;
    };
    const none = { ...provider.choice("anthropic"), baseUrl: null, apiKey: "" };
    expect(await errorOf(none)).toMatchObject({ kind: "refused-key", message: expect.stringContaining("config/ai/api_key") as string });
    expect(await errorOf({ ...none, provider: "nobody" })).toMatchObject({
      kind: "unknown-model",
      message: expect.stringContaining("anthropic") as string,
    });
    expect(await errorOf({ ...none, provider: "constructor" })).toMatchObject({ kind: "unknown-model" });
    expect(await errorOf({ ...none, provider: "openai-compatible" })).toMatchObject({
      message: expect.stringContaining("config/ai/base_url") as string,
    });
    expect(await errorOf({ ...none, provider: "workers-ai" })).toMatchObject({
      kind: "unreachable",
      message: expect.stringContaining("Cloudflare") as string,
    });
    expect(await errorOf({ ...none, provider: "ollama", baseUrl: "http://127.0.0.1:1/v1" })).toMatchObject({ kind: "unreachable" });
  });

  it("says how to allow a self-hosted server", async () => {
    const models = testModels({ net: makeNodeNet({ isAllowed: () => false }) });
    const { end } = await listen(models, requestOf({ ...provider.choice("chat"), provider: "ollama", baseUrl: null }, "hi"));
    const message = end.type === "error" ? end.error.message : "";
    expect(message).toContain("gsv config set config/net/allowed_hosts 127.0.0.1:11434");
    expect(message).not.toContain("canary");
  });
});

it("runs requests to one host in parallel, one per run", async () => {
  const models = testModels();
  let open = 0;
  let most = 0;
  let release = () => {};
  const all = new Promise<void>((resolve) => {
    release = resolve;
  });
  provider.on("ask all at once", async () => {
    most = Math.max(most, ++open);
    if (open === 32) release();
    await all;
    return HELLO;
  });
  const ends = await Promise.all(Array.from({ length: 32 }, () => listen(models, requestOf(provider.choice("chat"), "ask all at once"))));
  expect(ends.every(({ end }) => end.type === "done")).toBe(true);
  expect(most).toBe(32);
});

describe("connections", () => {
  it.each(["chat", "responses", "anthropic", "google"] as const)(
    "are kept between answers in the format of %s, for each key",
    async (wire) => {
      const models = testModels();
      const before = provider.opened;
      const ask = async (apiKey: string) => {
        const { end } = await listen(models, requestOf(provider.choice(wire, { apiKey }), "say ok"));
        expect(end.type).toBe("done");
        return provider.opened - before;
      };
      expect(await ask("sk-one")).toBe(1);
      // A second one is made if the end of an answer has not been read when the next request is sent, which is right after its last event.
      for (let count = 0; count < 5; count++) expect(await ask("sk-one")).toBeLessThanOrEqual(2);
      const used = provider.opened - before;
      expect(await ask("sk-two")).toBeGreaterThan(used);
    },
  );
});
