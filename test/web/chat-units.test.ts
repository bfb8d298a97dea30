// What a conversation of the web desktop makes of messages and calls, without a browser: rows, words of tool calls, suggestions.

import { describe, expect, test } from "vitest";
import { parseIntent } from "../../src/models/demo-phrases.ts";
import type { PendingQuestion } from "../../web/src/state/approvals.ts";
import type { HistoryMessage } from "../../web/src/state/history-window.ts";
import { summarizeProblems } from "../../web/src/chat/call-problems.ts";
import { formatMessage } from "../../web/src/chat/format-message.ts";
import { findRowOfMessage, makeHistoryRows, makeTailRows, type Row } from "../../web/src/chat/message-rows.ts";
import { suggestMessages } from "../../web/src/chat/suggestions.ts";
import { describeCall, summarizeCalls } from "../../web/src/chat/tool-words.ts";

const callOf = (name: string, args: Record<string, unknown> = {}) => ({ id: name, name, args, raw: null });
const onLaptop = (input: string) => callOf("Shell", { target: "laptop", input });

describe("tool calls", () => {
  test.each([
    [onLaptop("uptime"), "past", { verb: "Ran", subject: "uptime", place: "on laptop" }],
    [callOf("Read", { target: "gsv", path: "~/a.md" }), "present", { verb: "Reading", subject: "~/a.md", place: "" }],
    [
      callOf("CodeMode", { code: "// Count the files\nreturn 1" }),
      "future",
      { verb: "Run a script", subject: "Count the files", place: "" },
    ],
    [
      callOf("Shell", { sessionId: "s1", input: "", target: "laptop" }),
      "past",
      { verb: "Checked a command", subject: "", place: "on laptop" },
    ],
    [callOf("Write", { target: "gsv", path: "~/a.md" }), "failed", { verb: "Could not write", subject: "~/a.md", place: "" }],
    [onLaptop("false"), "failed", { verb: "Ran", subject: "false", place: "on laptop" }],
    [callOf("Paint", { target: "gsv", path: "x" }), "past", { verb: "Called Paint:", subject: "x", place: "" }],
  ] as const)("%j in the %s", (call, tense, words) => {
    expect(describeCall(call, tense)).toEqual(words);
  });

  test("are summed up by kind, with the machine they ran on", () => {
    const read = callOf("Read", { target: "laptop", path: "x" });
    expect(summarizeCalls([onLaptop("a"), read, onLaptop("b"), read])).toBe("Ran 2 commands, read 2 files on laptop");
    expect(summarizeCalls([callOf("Search", { target: "gsv", query: "q" }), callOf("Shell", { target: "gsv", input: "a" })])).toBe(
      "Ran 1 command, searched once",
    );
    expect(summarizeCalls([onLaptop("a"), callOf("Shell", { target: "pc", input: "a" }), callOf("Read", { target: "gsv" })])).toBe(
      "Ran 2 commands, read 1 file on 2 machines and the gateway",
    );
  });

  test("that did not go well are counted", () => {
    const done = { word: "done", tone: "good", tense: "past" } as const;
    const failed = { word: "failed", tone: "bad", tense: "failed" } as const;
    const denied = { word: "You denied this", tone: "plain", tense: "future" } as const;
    const exit = { word: "exit 2", tone: "plain", tense: "past" } as const;
    expect(summarizeProblems([done, done])).toBe("");
    expect(summarizeProblems([done, failed, failed, denied])).toBe("2 failed, 1 denied");
    expect(summarizeProblems([exit, done])).toBe("exit 2");
    expect(summarizeProblems([exit, exit])).toBe("2 with an exit code");
  });
});

describe("rows", () => {
  let lastId = 0;
  const messageOf = (role: HistoryMessage["role"], content: unknown, runId = "r1"): HistoryMessage => ({
    id: (lastId += 1),
    role,
    content,
    timestamp: 1_763_200_000_000,
    runId,
  });
  const asking = (text: string, ...ids: string[]) =>
    messageOf("assistant", { text, toolCalls: ids.map((id) => ({ id, name: "Read", arguments: { path: id } })) });
  const resultOf = (id: string) => messageOf("toolResult", { toolCallId: id, toolName: "Read", isError: false, output: id });
  const shapeOf = (rows: readonly Row[]) => rows.map((row) => (row.kind === "tools" ? `tools ${row.steps.length}` : row.kind));

  test("fold the calls of a run until it says something", () => {
    const messages = [
      messageOf("user", { text: "go" }),
      asking("I will look.", "a", "b"),
      resultOf("a"),
      resultOf("b"),
      asking("", "c"),
      resultOf("c"),
      messageOf("assistant", { text: "Done." }),
    ];
    const rows = makeHistoryRows({ from: 0, messages });
    expect(shapeOf(rows)).toEqual(["day", "message", "message", "tools 3", "message"]);
    expect(findRowOfMessage(rows, messages[5]!.id)?.kind).toBe("tools");
    expect(findRowOfMessage(rows, -1)).toBeNull();
  });

  test("name a question only if no call does", () => {
    const kinds = (kind: PendingQuestion["kind"]) =>
      makeTailRows({ pendingAnswers: [], outgoing: [], questions: [{ kind } as PendingQuestion], isWorking: true }).map((row) => row.kind);
    expect(kinds("call")).toEqual([]);
    expect(kinds("budget")).toEqual(["question"]);
  });

  test("keep the calls of different runs apart", () => {
    const other = { ...asking("", "b"), runId: "r2" };
    expect(shapeOf(makeHistoryRows({ from: 0, messages: [asking("", "a"), resultOf("a"), other] }))).toEqual(["day", "tools 1", "tools 1"]);
  });

  test("are exported as Markdown, with a fence longer than any inside", () => {
    const output = messageOf("toolResult", { toolCallId: "a", toolName: "Read", isError: false, output: "```\ncode\n```" });
    expect(formatMessage(output)).toBe("## Output\n\n````\n```\ncode\n```\n````\n");
    expect(formatMessage(messageOf("assistant", {}))).toBe("");
    expect(formatMessage(asking("Look", "~/a"))).toContain("**Read**\n\n```\n~/a\n```");
  });
});

test("suggestions fit what is connected, and the demo model knows those it gets", () => {
  const none = { isDemo: false, machine: null, servers: [], skills: [] };
  expect(suggestMessages(none).join(" ")).not.toContain("laptop");
  const some = suggestMessages({ ...none, machine: "laptop", servers: ["Mail"], skills: ["water-plants"] });
  expect(some).toEqual(
    expect.arrayContaining(["What uses the disk on laptop?", "What can you do with Mail?", "Use the skill water-plants"]),
  );
  for (const text of suggestMessages({ ...none, isDemo: true, machine: "laptop" })) expect(parseIntent(text), text).not.toBeNull();
});
