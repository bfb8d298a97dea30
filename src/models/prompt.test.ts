// The requests that providers receive, by dialect.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen, requestOf, testModels } from "../../test/support/models/ask.ts";
import { ScriptedProvider, type WireName } from "../../test/support/models/provider.ts";
import type { ModelMessage } from "../ports/models.ts";

const PICTURE = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
const BASE64 = "iVBORw0KGgo=";
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
afterAll(() => provider.close());

const text = (text: string) => ({ type: "text" as const, text });
const user = (...content: Extract<ModelMessage, { role: "user" }>["content"]): ModelMessage => ({ role: "user", content });

async function sent(wire: WireName, messages: readonly ModelMessage[], more = {}): Promise<Record<string, unknown>> {
  const { end } = await listen(testModels(), requestOf(provider.choice(wire, more), "", { messages }));
  expect(end.type).toBe("done");
  return provider.asked.at(-1)!.body;
}

describe.each(["chat", "responses", "anthropic", "google"] as const)("over %s", (wire) => {
  it("sends pictures of people and of tools", async () => {
    const image = { type: "image" as const, mimeType: "image/png", data: PICTURE };
    const messages: ModelMessage[] = [
      user(text("what is this?"), image),
      { role: "assistant", content: [{ type: "toolCall", id: "c1", name: "Read", arguments: { path: "/a.png" } }] },
      { role: "tool", callId: "c1", toolName: "Read", isError: false, content: [text("a.png"), image] },
    ];
    const body = JSON.stringify(await sent(wire, messages));
    expect(body.split(BASE64).length).toBe(3);
    expect(body).toContain("a.png");
  });

  it("leaves out what a provider would refuse", async () => {
    const messages: ModelMessage[] = [
      user(text("hi"), text("")),
      { role: "assistant", content: [{ type: "thinking", thinking: "hm", signature: "other/model {}" }] },
      user(text("again")),
      {
        role: "assistant",
        content: [text(""), { type: "toolCall", id: "id with spaces/and.more", name: "Read", arguments: null, raw: "{" }],
      },
      { role: "tool", callId: "id with spaces/and.more", toolName: "Read", isError: true, content: [text("not JSON: {")] },
    ];
    const body = JSON.stringify(await sent(wire, messages));
    expect(body).not.toContain('"hm"');
    expect(body).not.toContain("id with");
    expect(body).not.toContain('"text":""');
    expect(body).toContain("not JSON: {");
  });

  it("sends the system prompt, the tools and the limit, and the key only in a header", async () => {
    const body = await sent(wire, [user(text("hi"))]);
    const all = JSON.stringify(body);
    expect(all).toContain("You are a test.");
    expect(all).toContain('"Read"');
    expect(all).toContain("1000");
    expect(all).not.toContain("canary");
    expect(JSON.stringify(provider.asked.at(-1)!.headers)).toContain("sk-canary-000000000000");
  });
});

it("marks for Anthropic what it may cache", async () => {
  const body = await sent("anthropic", [user(text("hi"))]);
  expect(JSON.stringify(body.system)).toContain("cache_control");
  expect(JSON.stringify(body.messages)).toContain("cache_control");
});

it("stores nothing at OpenAI, and passes the process as cache key", async () => {
  const body = await sent("responses", [user(text("hi"))], { model: "gpt-5", reasoning: "high" });
  expect(body).toMatchObject({
    store: false,
    prompt_cache_key: "proc-1",
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high" },
  });
});

it("requests no more output than the model can write", async () => {
  expect(await sent("chat", [user(text("hi"))], { maxOutputTokens: 999_999 })).toMatchObject({ max_tokens: 999_999 });
  expect(await sent("responses", [user(text("hi"))], { model: "gpt-4o", maxOutputTokens: 999_999 })).toMatchObject({
    max_output_tokens: 16_384,
  });
});

it("turns Anthropic's thinking off if the thoughts on open calls are another model's", async () => {
  const messages: ModelMessage[] = [
    user(text("hi")),
    { role: "assistant", content: [{ type: "toolCall", id: "c", name: "Read", arguments: {} }] },
    { role: "tool", callId: "c", toolName: "Read", isError: false, content: [text("x")] },
  ];
  const model = "claude-sonnet-4-5";
  expect(JSON.stringify((await sent("anthropic", messages, { reasoning: "high", model })).thinking)).not.toContain("enabled");
  expect(JSON.stringify((await sent("anthropic", messages.slice(0, 1), { reasoning: "high", model })).thinking)).toContain("enabled");
});
