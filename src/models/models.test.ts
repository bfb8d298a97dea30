// Models over the real packages, real egress and real sockets, against a scripted provider for each dialect.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listen, requestOf, testModels } from "../../test/support/models/ask.ts";
import { recorded, ScriptedProvider, type WireName } from "../../test/support/models/provider.ts";
import type { ModelEvent, ModelMessage, OutputBlock } from "../ports/models.ts";

const WIRES: WireName[] = ["chat", "responses", "anthropic", "google"];
const ARGS = { target: "gsv", path: "/etc/dóc.md" };
let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await ScriptedProvider.start();
});
beforeEach(() => {
  provider.asked.length = 0;
});
afterAll(() => provider.close());

describe.each(WIRES)("over %s", (wire) => {
  it("streams text and usage", async () => {
    provider.on(`greet over ${wire}`, { say: [{ type: "text", text: "Hello wörld, how are you? It is a fine day." }] });
    const { events, end } = await listen(testModels(), requestOf(provider.choice(wire), `greet over ${wire}`));
    expect(end).toMatchObject({
      type: "done",
      stop: "end",
      content: [{ type: "text", text: "Hello wörld, how are you? It is a fine day." }],
    });
    expect(end.usage).toMatchObject({ input: 60, cacheRead: 40, output: 20, totalTokens: 120 });
    expect(events[0]).toEqual({ type: "text_start", index: 0 });
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join("")).toBe("Hello wörld, how are you? It is a fine day.");
    expect(events.at(-2)).toEqual({ type: "text_end", index: 0 });
  });

  it("streams thoughts and parallel calls, and sends them back with the next request", async () => {
    provider.on(`look over ${wire}`, {
      say: [
        { type: "thinking", text: "I should look twice" },
        { type: "call", id: "call_a", name: "Read", args: JSON.stringify(ARGS) },
        { type: "call", id: "call_b", name: "Read", args: JSON.stringify({ target: "laptop", path: "/" }) },
      ],
    });
    const choice = provider.choice(wire, { reasoning: "low", ...(wire === "responses" ? { model: "gpt-5" } : {}) });
    const request = requestOf(choice, `look over ${wire}`);
    const { events, end } = await listen(testModels(), request);
    expect(end).toMatchObject({
      type: "done",
      stop: "tools",
      content: [
        { type: "thinking", thinking: "I should look twice" },
        { type: "toolCall", name: "Read", arguments: ARGS },
        { type: "toolCall", name: "Read", arguments: { target: "laptop", path: "/" } },
      ],
    });
    const starts = events.filter((event) => event.type === "toolcall_start");
    expect(starts.map(({ index }) => index)).toEqual([1, 2]);
    const ids = end.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    const results = ids.map((callId): ModelMessage => ({
      role: "tool",
      callId,
      toolName: "Read",
      isError: false,
      content: [{ type: "text", text: "it" }],
    }));
    const messages: ModelMessage[] = [...request.messages, { role: "assistant", content: end.content }, ...results];
    await listen(testModels(), { ...request, messages });
    const sent = JSON.stringify(provider.asked.at(-1)?.body);
    if (wire === "anthropic") expect(sent).toContain('{"type":"thinking","thinking":"I should look twice","signature":"c2lnbmVk"}');
    if (wire === "responses") expect(sent).toContain('"encrypted_content":"c2VhbGVk"');
    if (wire === "chat") expect(sent).toContain('"reasoning_content":"I should look twice"');
    if (wire === "google") expect(sent).toContain('"thoughtSignature":"c2lnbmVk"');
    // Another model does not get these thoughts, and the request still succeeds.
    const other = { ...choice, model: wire === "responses" ? "gpt-5.1" : "another" };
    const { end: again } = await listen(testModels(), { ...request, choice: other, messages });
    expect(again.type).toBe("done");
    expect(JSON.stringify(provider.asked.at(-1)?.body)).not.toMatch(/c2lnbmVk|c2VhbGVk/);
  });

  it("reports that an answer reached its limit", async () => {
    provider.on(`tell at length over ${wire}`, { say: [{ type: "text", text: "And then" }], stop: "length" });
    const { end } = await listen(testModels(), requestOf(provider.choice(wire), `tell at length over ${wire}`));
    expect(end).toMatchObject({ type: "done", stop: "length" });
  });

  it.each([
    [401, "refused-key"],
    [404, "unknown-model"],
    [413, "too-long"],
    [400, "too-long"],
  ])("does not retry a request that was refused with %i", async (status, kind) => {
    provider.on(`be refused with ${status} over ${wire}`, { status });
    const { end, events } = await listen(testModels(), requestOf(provider.choice(wire), `be refused with ${status} over ${wire}`));
    expect(end).toMatchObject({ type: "error", error: { kind }, content: [] });
    expect(JSON.stringify(end)).not.toContain("canary");
    expect(events.length).toBe(1);
    expect(provider.asked.length).toBe(1);
  });

  it.each([
    [429, "rate-limited"],
    [500, "overloaded"],
    [529, "overloaded"],
  ])("retries after %i, up to three attempts in all", async (status, kind) => {
    provider.on(`fail once with ${status} over ${wire}`, { tries: [{ status }, { say: [{ type: "text", text: "now" }] }] });
    const { events, end } = await listen(testModels(), requestOf(provider.choice(wire), `fail once with ${status} over ${wire}`));
    expect(end).toMatchObject({ type: "done", content: [{ type: "text", text: "now" }] });
    expect(events[0]).toMatchObject({ type: "retrying", attempt: 2 });
    provider.on(`fail always with ${status} over ${wire}`, { status });
    const failed = await listen(testModels(), requestOf(provider.choice(wire), `fail always with ${status} over ${wire}`));
    expect(failed.end).toMatchObject({ type: "error", error: { kind } });
    expect(provider.asked.length).toBe(5);
  });

  it("voids an answer that was cut off, and retries", async () => {
    const script = { say: [{ type: "text" as const, text: "A long enough answer to be cut off in its middle" }] };
    const after = recorded(wire, script).length / 2;
    provider.on(`be cut twice over ${wire}`, { tries: [{ cut: script, after, how: "reset" }, { cut: script, after, how: "end" }, script] });
    const { events, end } = await listen(testModels(), requestOf(provider.choice(wire), `be cut twice over ${wire}`));
    expect(events.filter(({ type }) => type === "retrying").length).toBe(2);
    expect(end).toMatchObject({ type: "done", content: script.say });
  });

  it("ends with the partial answer if every attempt is cut off", async () => {
    const script = { say: [{ type: "text" as const, text: "A long enough answer to be cut off ".repeat(10) }] };
    provider.on(`be cut over ${wire}`, { cut: script, after: recorded(wire, script).length / 2, how: "end" });
    const { end } = await listen(testModels({ limits: { tries: 1 } }), requestOf(provider.choice(wire), `be cut over ${wire}`));
    expect(end).toMatchObject({ type: "error", error: { kind: "malformed" } });
    // The partial answer is billed, so its usage is estimated.
    expect(end.content.length).toBe(1);
    expect(end.usage).toMatchObject({ isEstimate: true });
  });

  it("ends at once when stopped, before and during the answer, and closes the connection", async () => {
    const script = { say: [{ type: "text" as const, text: "one two three ".repeat(20) }] };
    const after = recorded(wire, script).length / 2;
    for (const moment of ["arrived", "heard"] as const) {
      const prompt = `be stopped once ${moment} over ${wire}`;
      provider.on(prompt, moment === "arrived" ? { hang: true } : { hang: true, script, after });
      const stop = new AbortController();
      const before = provider.asked.length;
      const events: ModelEvent[] = [];
      const listening = (async () => {
        for await (const event of testModels().stream(requestOf(provider.choice(wire), prompt), stop.signal)) events.push(event);
      })();
      await expect.poll(() => provider.asked.length).toBe(before + 1);
      if (moment === "heard") await expect.poll(() => events.some(({ type }) => type === "text_delta")).toBe(true);
      stop.abort();
      await listening;
      expect(events.at(-1)).toMatchObject({ type: "error", error: { kind: "aborted" } });
      await expect.poll(() => provider.connections).toBe(0);
    }
  });

  it("closes the connection if the consumer stops reading", async () => {
    const script = { say: [{ type: "text" as const, text: "one two three ".repeat(20) }] };
    provider.on(`be left over ${wire}`, { hang: true, script, after: recorded(wire, script).length / 2 });
    for await (const event of testModels().stream(requestOf(provider.choice(wire), `be left over ${wire}`), new AbortController().signal))
      if (event.type === "text_delta") break;
    await expect.poll(() => provider.connections).toBe(0);
  });

  it("times out on silence, not on length", async () => {
    provider.on(`be silent over ${wire}`, { hang: true });
    const limits = { tries: 1, silenceMs: 50, localSilenceMs: 50 };
    const { end } = await listen(testModels({ limits }), requestOf(provider.choice(wire), `be silent over ${wire}`));
    expect(end).toMatchObject({ type: "error", error: { kind: "silent" } });
  });

  it("treats garbage as an error, not as an answer", async () => {
    const garbage = [
      "",
      "<html>hello</html>",
      'data: {"x": \n\n',
      "data: 7\n\n",
      'data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n',
    ];
    for (const [at, bytes] of garbage.entries()) {
      const prompt = `send garbage ${at} over ${wire}`;
      provider.on(prompt, { bytes });
      const { end } = await listen(testModels({ limits: { tries: 1 } }), requestOf(provider.choice(wire), prompt));
      expect(end.type, bytes).toBe("error");
    }
  });
});

describe("tool calls", () => {
  const say = (args: string, id: string | null = "call_1") => ({ say: [{ type: "call" as const, id, name: "Read", args }] });
  const callsOf = async (wire: WireName, args: string, stop: "end" | "length" = "end") => {
    const prompt = `call with ${args} to its ${stop} over ${wire}`;
    provider.on(prompt, { ...say(args), stop });
    const { end } = await listen(testModels(), requestOf(provider.choice(wire), prompt));
    return end.content.filter((block): block is Extract<OutputBlock, { type: "toolCall" }> => block.type === "toolCall");
  };

  it.each(["chat", "responses", "anthropic"] as const)("are repaired if only punctuation is wrong, over %s", async (wire) => {
    expect(await callsOf(wire, '{"target":"gsv","path":"/a",}')).toMatchObject([{ arguments: { target: "gsv", path: "/a" } }]);
    expect(await callsOf(wire, '{"target":"gsv","path":"/a"')).toMatchObject([{ arguments: { target: "gsv", path: "/a" } }]);
    expect(await callsOf(wire, '{"target":"gsv","path":"/a')).toMatchObject([{ arguments: null, raw: '{"target":"gsv","path":"/a' }]);
    expect(await callsOf(wire, "what?")).toMatchObject([{ arguments: null, raw: "what?" }]);
    expect(await callsOf(wire, "")).toMatchObject([{ arguments: {} }]);
    // Cut off by the output limit, so nothing may be guessed.
    expect(await callsOf(wire, '{"target":"gsv","path":"/a"', "length")).toMatchObject([{ arguments: null }]);
  });

  it("get a new id if they have none or one that was used before", async () => {
    provider.on("call twice without an id", { say: [...say("{}", null).say, ...say('{"a":1}', null).say] });
    const { end } = await listen(testModels(), requestOf(provider.choice("chat"), "call twice without an id"));
    const [one, two] = end.content as Extract<OutputBlock, { type: "toolCall" }>[];
    expect(one?.id).toBeTruthy();
    expect(two?.id).not.toBe(one?.id);
    const messages: ModelMessage[] = [
      { role: "user", content: [{ type: "text", text: "use an id again" }] },
      { role: "assistant", content: [{ type: "toolCall", id: "call_1", name: "Read", arguments: {} }] },
      { role: "tool", callId: "call_1", toolName: "Read", isError: false, content: [{ type: "text", text: "x" }] },
    ];
    // The same id in both answers.
    provider.on("use an id again", say("{}"), say("{}"));
    const next = await listen(testModels(), requestOf(provider.choice("chat"), "", { messages }));
    expect(next.end.content[0]).toMatchObject({ type: "toolCall", arguments: {} });
    expect(next.end.content[0]).not.toMatchObject({ id: "call_1" });
  });
});
