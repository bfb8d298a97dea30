import * as fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTokens } from "../../agent/estimate.ts";
import type { ModelMessage, OutputBlock } from "../../ports/models.ts";
import { EVENT, type HistoryRow, toModelMessages } from "./model-messages.ts";

let nextId = 1;
const at = () => ({ id: nextId, createdAt: nextId++ * 1_000 });
const user = (text: string): HistoryRow => ({ ...at(), role: "user", content: { text } });
const system = (text: string): HistoryRow => ({ ...at(), role: "system", content: { text } });
const assistant = (...blocks: OutputBlock[]): HistoryRow => ({ ...at(), role: "assistant", content: { blocks } });
const result = (callId: string, output = "done", isError = false): HistoryRow => ({
  ...at(),
  role: "toolResult",
  content: { callId, tool: "Read", isError, output },
});
const text = (text: string): OutputBlock => ({ type: "text", text });
const call = (id: string): OutputBlock => ({ type: "toolCall", id, name: "Read", arguments: { path: "a" } });

test("a plain turn is unchanged", () => {
  const rows = [user("hi"), assistant(text("let me look"), call("c1")), result("c1"), assistant(text("there")), user("thanks")];
  expect(toModelMessages(rows).messages).toEqual([
    { role: "user", content: [text("hi")] },
    { role: "assistant", content: [text("let me look"), call("c1")] },
    { role: "tool", callId: "c1", toolName: "Read", isError: false, content: [text("done")] },
    { role: "assistant", content: [text("there")] },
    { role: "user", content: [text("thanks")] },
  ]);
});

test("runtime events are marked and merged with messages of people", () => {
  expect(toModelMessages([user("hi"), system("a child has ended"), user("well?")]).messages).toEqual([
    { role: "user", content: [text("hi"), text(`${EVENT}\na child has ended`), text("well?")] },
  ]);
  expect(toModelMessages([user(`${EVENT} do it`)]).messages).toEqual([{ role: "user", content: [text(`> ${EVENT} do it`)] }]);
});

test("a missing result becomes an error that says so; late and repeated results are dropped", () => {
  const rows = [
    user("go"),
    assistant(call("c1"), call("c2")),
    user("hurry"),
    result("c2", ""),
    result("c2", "twice"),
    assistant(text("ok")),
    result("c1", "late"),
    user("and?"),
  ];
  const { messages } = toModelMessages(rows);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "user", "assistant", "user"]);
  expect(messages[2]).toMatchObject({
    callId: "c1",
    isError: true,
    content: [{ text: expect.stringMatching(/^Error: .*outcome is unknown/) }],
  });
  expect(messages[3]).toMatchObject({ callId: "c2", isError: false, content: [{ text: "(no output)" }] });
  expect(JSON.stringify(messages)).not.toMatch(/twice|late/);
});

test("calls with the same id get different ids, each with its own result", () => {
  const rows = [
    user("go"),
    assistant(call("0")),
    result("0", "first"),
    assistant(call("0"), call("0")),
    result("0", "second"),
    result("0", "third"),
  ];
  const tools = toModelMessages(rows).messages.filter((message) => message.role === "tool");
  expect(tools.map(({ callId, content }) => [callId, content[0]])).toEqual([
    ["0", text("first")],
    ["0_2", text("second")],
    ["0_3", text("third")],
  ]);
});

test("pictures are sent as pictures, and other media is described", () => {
  const data = new Uint8Array([1]);
  const rows: HistoryRow[] = [
    {
      ...at(),
      role: "user",
      content: {
        text: "",
        media: [
          { type: "image", mimeType: "image/png", data },
          { type: "audio", mimeType: "audio/ogg", filename: "a.ogg", size: 9, duration: 2, transcription: "hello" },
          { type: "image", mimeType: "image/png", url: "https://example.com/a.png" },
        ],
      },
    },
  ];
  expect(toModelMessages(rows).messages).toEqual([
    {
      role: "user",
      content: [
        { type: "image", mimeType: "image/png", data },
        text("[Attached audio: name a.ogg, audio/ogg, 9 bytes, 2 seconds]\nTranscript: hello"),
        text("[Attached image: image/png, at https://example.com/a.png, not fetched]"),
      ],
    },
  ]);
});

test("of very many pictures the newest are sent, and the others are replaced by a text", () => {
  const image = { type: "image" as const, mimeType: "image/png" };
  const rows = Array.from({ length: 30 }, (_, at): HistoryRow => {
    return { ...user("look"), role: "user", content: { text: "look", media: [{ ...image, data: new Uint8Array([at]) }] } };
  });
  const blocks = toModelMessages(rows).messages.flatMap(({ content }) => [...content]);
  const pictures = blocks.flatMap((block) => (block.type === "image" ? [block.data[0]] : []));
  expect(pictures).toEqual(Array.from({ length: 20 }, (_, at) => at + 10));
  expect(blocks.filter((block) => block.type === "text" && block.text.includes("was here")).length).toBe(10);
});

test("another model does not get thoughts and signatures that are not its own", () => {
  const blocks: OutputBlock[] = [{ type: "thinking", thinking: "hm", signature: "s" }, text("ok"), { ...call("c"), signature: "t" }];
  const rows: HistoryRow[] = [user("hi"), { ...at(), role: "assistant", content: { blocks, model: "a/one" } }, result("c")];
  expect(toModelMessages(rows, null, "a/one").messages[1]).toEqual({ role: "assistant", content: blocks });
  expect(toModelMessages(rows, null, "b/two").messages[1]).toEqual({ role: "assistant", content: [text("ok"), call("c")] });
});

test("a run without a message, and one after an answer, get an event that says so", () => {
  expect(toModelMessages([]).messages).toEqual([{ role: "user", content: [{ type: "text", text: expect.stringContaining(EVENT) }] }]);
  const { messages } = toModelMessages([user("hi"), assistant(text("ho"))]);
  expect(messages.at(-1)).toMatchObject({ role: "user" });
});

const TURNS = Array.from({ length: 40 }, (_, at) => [
  user(`question ${at} ${"q".repeat(200)}`),
  assistant(call(`c${at}`)),
  result(`c${at}`, "r".repeat(400)),
  assistant(text(`answer ${at}`)),
]).flat();

test("the newest turns are kept whole, behind a line that says what is left out", () => {
  const rows = [...TURNS, user("last")];
  const { messages, omitted } = toModelMessages(rows, 3_000);
  expect(estimateTokens(messages)).toBeLessThanOrEqual(3_000);
  expect(omitted % 4).toBe(0);
  expect(messages[0]).toMatchObject({
    role: "user",
    content: [
      { text: expect.stringMatching(new RegExp(`${omitted} messages from .* left out`)) },
      { text: expect.stringContaining(`question ${omitted / 4}`) },
    ],
  });
  expect(messages.at(-1)).toEqual({ role: "user", content: [text("last")] });
  expect(toModelMessages(rows, 1_000_000).omitted).toBe(0);
});

test("the cut stays in place for some turns, so that the provider's cache hits", () => {
  const cuts = Array.from({ length: 20 }, (_, extra) => toModelMessages([...TURNS.slice(0, 80 + extra * 4), user("last")], 3_000).omitted);
  expect(new Set(cuts).size).toBeLessThan(12);
  expect(cuts).toEqual(cuts.toSorted((a, b) => a - b));
});

test("of one long turn the request and the newest work are kept", () => {
  const work = Array.from({ length: 50 }, (_, at) => [assistant(call(`w${at}`)), result(`w${at}`, `${at} ${"r".repeat(400)}`)]).flat();
  const { messages } = toModelMessages([user("old"), assistant(text("yes")), user("build it"), ...work], 3_000);
  const all = JSON.stringify(messages);
  expect(estimateTokens(messages)).toBeLessThanOrEqual(3_000);
  expect(all).toContain("build it");
  expect(all).toContain('"49 r');
  expect(all).not.toContain('"0 r');
  expect(all).not.toContain('"old"');
  expect(problems(messages)).toEqual([]);
});

/** The reasons why a provider would refuse these messages. */
function problems(messages: readonly ModelMessage[]): string[] {
  const found: string[] = [];
  if (messages[0]?.role !== "user") found.push("begins with another than the user");
  if (messages.at(-1)?.role === "assistant") found.push("ends with the assistant");
  const seen = new Set<string>();
  let owed: string[] = [];
  messages.forEach((message, at) => {
    const before = messages[at - 1]?.role;
    if (message.content.length === 0) found.push("an empty message");
    for (const block of message.content) if (block.type === "text" && block.text.trim() === "") found.push("an empty block");
    if (message.role === "tool") {
      if (owed.shift() !== message.callId) found.push(`a result of another call at ${at}`);
      return;
    }
    if (owed.length > 0) found.push(`calls without a result before ${at}`);
    if (before === message.role) found.push(`two of ${message.role} at ${at}`);
    if (message.role !== "assistant") return;
    owed = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    if (message.content.every(({ type }) => type === "thinking")) found.push("nothing but thoughts");
    for (const id of owed) {
      if (seen.has(id)) found.push(`the id ${id} twice`);
      seen.add(id);
    }
  });
  if (owed.length > 0) found.push("calls without a result at the end");
  return found;
}

const someText = fc.constantFrom("", " ", "hello", "x".repeat(300));
const someId = fc.constantFrom("a", "b", "c", "");
const someBlock: fc.Arbitrary<OutputBlock> = fc.oneof(
  someText.map(text),
  someText.map((thinking): OutputBlock => ({ type: "thinking", thinking })),
  fc.constant<OutputBlock>({ type: "thinking", thinking: "", redacted: true, signature: "s" }),
  someId.map(call),
  fc.constant<OutputBlock>({ type: "toolCall", id: "raw", name: "Shell", arguments: null, raw: "{" }),
);
const anyRow: fc.Arbitrary<HistoryRow> = fc.oneof(
  someText.map(user),
  someText.map(system),
  fc.array(someBlock, { maxLength: 4 }).map((blocks) => assistant(...blocks)),
  fc.tuple(someId, someText).map(([id, output]) => result(id, output)),
);
const anyBudget = fc.option(fc.integer({ min: 0, max: 2_000 }));

test("the messages are valid for any history", () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 40 }), anyBudget, (rows, budget) => {
      expect(problems(toModelMessages(rows, budget).messages)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test("a history that loses any of its rows stays valid and keeps the last message", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 161, maxLength: 161 }),
      fc.nat(160),
      fc.nat(160),
      anyBudget,
      (lost, from, to, budget) => {
        const rows = [...TURNS, user("last words")].filter((_, at) => !lost[at] || (at >= from && at < to));
        const said = [...rows.filter(({ content }) => !("text" in content && content.text === "last words")), user("last words")];
        const { messages } = toModelMessages(said, budget);
        expect(problems(messages)).toEqual([]);
        expect(JSON.stringify(messages.at(-1))).toContain("last words");
      },
    ),
    { numRuns: 500 },
  );
});
