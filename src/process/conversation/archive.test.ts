// An archived message is restored exactly, signatures included, from a format that other programs can read too.

import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { toArchiveLine, toChatLine, fromArchive, fromArchiveLine, segmentPath, toArchive, resetArchivePath } from "./archive.ts";
import type { Message } from "../rows/history.ts";
import { toWireMessage } from "./wire-message.ts";

const OF = { conversationId: "c", generation: 2 };
const call = { type: "toolCall", id: "k", name: "Read", arguments: { path: "/a" }, signature: "s1" } as const;
const thought = { type: "thinking", thinking: "hm", signature: "s2" } as const;
const media = [{ type: "image", mimeType: "image/png", key: "var/media/1" }];

const MESSAGES: Record<string, Message> = {
  words: { id: 1, runId: "r", createdAt: 10, role: "user", text: 'hi\n\u2028"there"' },
  "words with a picture": { id: 2, runId: "r", createdAt: 10, role: "user", text: "look", media },
  "an answer": { id: 3, runId: "r", createdAt: 11, role: "assistant", blocks: [{ type: "text", text: "yes" }], model: "p/m" },
  "thoughts and calls": { id: 4, runId: "r", createdAt: 11, role: "assistant", blocks: [thought, { type: "text", text: "so" }, call] },
  "another order": { id: 5, runId: "r", createdAt: 11, role: "assistant", blocks: [call, { type: "text", text: "a" }, thought] },
  "signed words": { id: 6, runId: "r", createdAt: 11, role: "assistant", blocks: [{ type: "text", text: "a", signature: "s3" }] },
  "text in two blocks": {
    id: 7,
    runId: "r",
    createdAt: 11,
    role: "assistant",
    blocks: [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
  },
  "arguments that are not JSON": {
    id: 8,
    runId: null,
    createdAt: 11,
    role: "assistant",
    blocks: [{ type: "toolCall", id: "k", name: "Read", arguments: null, raw: "{" }],
  },
  "an event": { id: 9, runId: null, createdAt: 12, role: "system", text: "woke" },
  "a result": { id: 10, runId: "r", createdAt: 13, role: "toolResult", callId: "k", tool: "Read", isError: true, output: "Error: no" },
  "a picture as result": {
    id: 11,
    runId: "r",
    createdAt: 13,
    role: "toolResult",
    callId: "k",
    tool: "Read",
    isError: false,
    output: "",
    images: media,
  },
  "a result of a script": {
    id: 12,
    runId: "r",
    createdAt: 13,
    role: "toolResult",
    callId: "k",
    tool: "CodeMode",
    isError: false,
    durationMs: 5,
    output: "{}",
    scriptCalls: { count: 2, calls: [{ callId: "codemode-1", name: "Read", args: { path: "/a" }, ok: false, outcome: "denied" }] },
  },
};

describe("an archived message", () => {
  it.each(Object.entries(MESSAGES))("is restored exactly: %s", (_, message) => {
    expect(fromArchiveLine(toArchiveLine(message, OF))).toEqual(message);
  });

  it("names its conversation, its run and its call", () => {
    expect(JSON.parse(toArchiveLine(MESSAGES["a result"]!, OF))).toEqual({
      id: 10,
      conversation_id: "c",
      generation: 2,
      role: "toolResult",
      content: "Error: no",
      tool_calls: { toolName: "Read", isError: true },
      tool_call_id: "k",
      ts: 13,
      run_id: "r",
    });
    expect(JSON.parse(toArchiveLine(MESSAGES["thoughts and calls"]!, OF))).toMatchObject({
      content: "so",
      thinking: [{ type: "thinking", thinking: "hm", thinkingSignature: "s2" }],
      tool_calls: [{ type: "toolCall", id: "k", name: "Read", arguments: { path: "/a" }, thoughtSignature: "s1" }],
    });
    expect(JSON.parse(toArchiveLine(MESSAGES["thoughts and calls"]!, OF))).not.toHaveProperty("blocks");
  });

  it("is read from an archive of before the calls of scripts were kept", () => {
    const { script_calls: kept, ...old } = JSON.parse(toArchiveLine(MESSAGES["a result of a script"]!, OF)) as Record<string, unknown>;
    const { scriptCalls, ...message } = MESSAGES["a result of a script"] as Extract<Message, { role: "toolResult" }>;
    expect(kept).toEqual(scriptCalls);
    expect(fromArchiveLine(JSON.stringify(old))).toEqual(message);
    expect(toChatLine(MESSAGES["a result of a script"]!)).not.toContain("codemode-1");
  });
});

it("an archive is gzip of one line per message", async () => {
  const all = Object.values(MESSAGES);
  const bytes = await toArchive(all, OF);
  expect(gunzipSync(bytes).toString().trimEnd().split("\n")).toEqual(all.map((message) => toArchiveLine(message, OF)));
  expect(await fromArchive(bytes)).toEqual(all);
  expect(await fromArchive(await toArchive([], OF))).toEqual([]);
});

it("an archive stays in its folder, whatever the conversation is called", () => {
  expect(segmentPath("/v/u/p", "a/b c", "x")).toBe("/v/u/p/conversations/a%2Fb%20c/x.jsonl.gz");
  expect(segmentPath("/v/u/p", "..", "x")).toBe("/v/u/p/conversations/%2E%2E/x.jsonl.gz");
  expect(resetArchivePath("/v/u/p", { conversationId: "\ud800", generation: 3 }, "x")).toBe("/v/u/p/x/%EF%BF%BD.gen-3.jsonl.gz");
});

describe("a message on the wire", () => {
  const content = (name: string) => toWireMessage(MESSAGES[name]!).content;

  it("has the shape of its role", () => {
    expect(toWireMessage(MESSAGES["an event"]!)).toEqual({ id: 9, role: "system", content: "woke", timestamp: 12 });
    expect(content("words")).toBe('hi\n\u2028"there"');
    expect(content("words with a picture")).toEqual({ text: "look", media });
    expect(content("an answer")).toBe("yes");
    expect(content("text in two blocks")).toBe("ab");
    expect(content("thoughts and calls")).toEqual({
      text: "so",
      thinking: [{ type: "thinking", thinking: "hm", thinkingSignature: "s2" }],
      toolCalls: [{ type: "toolCall", id: "k", name: "Read", arguments: { path: "/a" }, thoughtSignature: "s1" }],
    });
    expect(content("an event")).toBe("woke");
    expect(content("a result")).toEqual({ toolName: "Read", isError: true, toolCallId: "k", output: "Error: no" });
  });
});
