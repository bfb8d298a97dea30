// What a process hands to its workspace before it is emptied, and the summary it requests from its model.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deferred } from "../../lib/deferred.ts";
import { NOTHING_SPENT } from "../../ports/usage.ts";
import { read, text, USAGE, World } from "../../../test/support/process-world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const MATERIAL = { summary: "- Roses.\n", transcript: '{"role":"user","content":"Plant tulips."}' };
const reset = (hasWorkspace = true) => world.process.conversation.resetAll({ reason: "process.reset", archive: true, hasWorkspace });
const renew = () => world.process.conversation.renewSummary(MATERIAL);
const lines = (chat: Uint8Array) =>
  new TextDecoder()
    .decode(chat)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function say(words: string, conversationId = "default"): Promise<void> {
  world.say(words, { conversationId });
  await world.idle();
}

describe("a reset", () => {
  it("hands over the messages of the default conversation, and then empties it", async () => {
    world.on("Look.", [read("/a")], [text("It is empty.")]);
    await say("Look.");
    await say("Elsewhere.", "other");
    await reset();
    expect(world.history()).toEqual([]);
    const [{ reason, chat, transcript } = { reason: null, chat: new Uint8Array(), transcript: "" }, ...more] = world.checkpoints;
    expect([reason, more]).toEqual(["process.reset", []]);
    expect(lines(chat)).toEqual([
      { role: "user", content: "Look.", ts: 1_000 },
      { role: "assistant", content: "", tool_calls: [expect.objectContaining({ type: "toolCall", name: "Read" })], ts: 1_000 },
      {
        role: "toolResult",
        content: "content of /a",
        tool_calls: { toolName: "Read", isError: false, durationMs: expect.any(Number) },
        tool_call_id: expect.any(String),
        ts: 1_000,
      },
      { role: "assistant", content: "It is empty.", ts: 1_000 },
    ]);
    expect(transcript).toContain("It is empty.");
    expect(transcript).not.toContain("Elsewhere.");
  });

  it("hands over nothing if the conversation is empty or there is no workspace", async () => {
    await reset();
    await say("Elsewhere.", "other");
    await reset();
    await say("Here.");
    await reset(false);
    expect(world.checkpoints).toEqual([]);
  });

  it("hands over the newest whole lines of a conversation that is too long", async () => {
    const long = "x".repeat(1_900_000);
    world.answer = () => [text("Yes.")];
    for (const at of [1, 2, 3, 4, 5]) await say(`${at} ${long}`);
    await reset();
    const [{ chat, transcript } = { chat: new Uint8Array(), transcript: "" }] = world.checkpoints;
    expect(chat.length).toBeLessThan(8 * 1024 * 1024);
    expect(lines(chat).map(({ content }) => String(content).slice(0, 4))).toEqual([
      "Yes.",
      ...["2", "3", "4", "5"].flatMap((at) => [`${at} xx`, "Yes."]),
    ]);
    expect(transcript.length).toBeLessThan(17_000);
  });
});

describe("the summary of a workspace", () => {
  it("is rewritten by the model, without tools, and its usage is counted", async () => {
    world.answer = () => [text(" - Roses and tulips.\n")];
    expect(await renew()).toBe("- Roses and tulips.");
    const [request] = world.requests;
    expect(request).toMatchObject({ tools: [], choice: { maxOutputTokens: 768, reasoning: "off" } });
    expect(JSON.stringify(request!.messages)).toContain("- Roses.");
    expect(JSON.stringify(request!.messages)).toContain("Plant tulips.");
    expect(world.process.readSpent()).toMatchObject({ modelCalls: 1, usage: { totalTokens: USAGE.totalTokens } });
    await expect.poll(() => world.events.map(({ payload }) => payload)).toMatchObject([{ changes: ["usage"], model: "m", usage: USAGE }]);
  });

  it("stays if the model fails or says nothing", async () => {
    world.answer = () => ({ error: "no key" });
    expect(await renew()).toBeNull();
    world.answer = () => [text(" \n")];
    expect(await renew()).toBeNull();
  });

  it("stays if the model does not answer in time, and the process keeps working", async () => {
    const deadline = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
    world.modelHolds = deferred();
    const renewed = renew();
    await expect.poll(() => world.requests.length).toBe(1);
    deadline.abort(new DOMException("late", "TimeoutError"));
    expect(await renewed).toBeNull();
    expect(timeout).toHaveBeenCalledOnce();
    world.modelHolds = null;
    world.on("Still here?", [text("Yes.")]);
    await say("Still here?");
    expect(world.ends().at(-1)).toMatchObject([expect.anything(), "ok", "Yes."]);
  });

  it("stays if the gateway takes too long to prepare", async () => {
    const deadline = new AbortController();
    vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
    world.preparing = new Promise(() => {});
    const renewed = renew();
    deadline.abort(new DOMException("late", "TimeoutError"));
    expect(await renewed).toBeNull();
  });

  it("stays if the process is closed", async () => {
    world.modelHolds = deferred();
    const renewed = renew();
    await expect.poll(() => world.requests.length).toBe(1);
    world.process.close();
    expect(await renewed).toBeNull();
  });

  it("stays if the demo model would answer", async () => {
    world.provider = "demo";
    expect(await renew()).toBeNull();
    expect(world.requests).toEqual([]);
    world.provider = "test";
    world.fallback = { provider: "demo", model: "demo", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 100 };
    await renew();
    expect(world.requests.map(({ fallback }) => fallback)).toEqual([undefined]);
  });

  it("stays if a budget of the process or its owner is used up", async () => {
    world.budget = { run: {}, process: { modelCalls: 0 } };
    expect(await renew()).toBeNull();
    world.budget = { run: {}, process: {} };
    const total = { ...NOTHING_SPENT, modelCalls: 5 };
    world.owner = { limits: { modelCalls: 5 }, account: { total, since: NOTHING_SPENT } };
    expect(await renew()).toBeNull();
    world.owner = { limits: { modelCalls: 6 }, account: { total, since: NOTHING_SPENT } };
    expect(await renew()).not.toBeNull();
    expect(world.requests).toHaveLength(1);
  });
});
