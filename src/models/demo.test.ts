// The demo model is a pure function: the same request gets the same answer, with calls of the real tools.

import { describe, expect, it } from "vitest";
import { listen, requestOf, testModels } from "../../test/support/models/ask.ts";
import { memoryNet } from "../../test/support/memory/net.ts";
import type { ModelChoice, ModelMessage, ModelRequest, ModelTool } from "../ports/models.ts";
import { demoAnswer } from "./demo.ts";

const choice: ModelChoice = { provider: "demo", model: "demo", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 8192 };
const tools = ["Read", "Write", "Edit", "Delete", "Search", "Shell", "CodeMode"].map((name): ModelTool => ({
  name,
  description: name,
  parameters: {},
}));
const ask = (text: string): ModelRequest => requestOf(choice, text, { tools });
const callOf = (text: string) => demoAnswer(ask(text)).find((block) => block.type === "toolCall");

describe("requests", () => {
  it.each([
    ["list files", "Read", { target: "gsv", path: "~" }],
    ["List my files in ~/notes, please", "Read", { target: "gsv", path: "~/notes" }],
    ["list files in ~/notes", "Read", { target: "gsv", path: "~/notes" }],
    ["Show me the files in /workspaces on laptop.", "Read", { target: "laptop", path: "/workspaces" }],
    ["ls ~", "Read", { target: "gsv", path: "~" }],
    ["what is in /etc?", "Read", { target: "gsv", path: "/etc" }],
    ["read ~/notes/a.md", "Read", { target: "gsv", path: "~/notes/a.md" }],
    ["Could you please read the file README.md on my macbook?", "Read", { target: "macbook", path: "README.md" }],
    ['open "/tmp/my file.txt" on server', "Read", { target: "server", path: "/tmp/my file.txt" }],
    ["run uname -a", "Shell", { target: "gsv", input: "uname -a" }],
    ["run `df -h` on laptop", "Shell", { target: "laptop", input: "df -h" }],
    ["please run ls /tmp on pi-4.local", "Shell", { target: "pi-4.local", input: "ls /tmp" }],
    [
      "write a note: water the plants on Monday",
      "Write",
      { target: "gsv", path: "~/notes/water-the-plants-on-monday.md", content: "water the plants on Monday\n" },
    ],
    ['write "hello there" to ~/hello.txt on laptop', "Write", { target: "laptop", path: "~/hello.txt", content: "hello there\n" }],
    [
      "remember that my bike is blue",
      "Write",
      { target: "gsv", path: "~/knowledge/remembered/my-bike-is-blue.md", content: "my bike is blue\n" },
    ],
    ["What do you remember?", "Shell", { target: "gsv", input: "cat ~/knowledge/remembered/*.md" }],
    ["show devices", "Read", { target: "gsv", path: "/sys/devices" }],
    ["Which machines are there?", "Read", { target: "gsv", path: "/sys/devices" }],
    ["search for plants in ~/notes", "Search", { target: "gsv", query: "plants", path: "~/notes" }],
    ["delete ~/hello.txt on laptop", "Delete", { target: "laptop", path: "~/hello.txt" }],
    [
      'replace "hello" with "good day" in ~/hello.txt',
      "Edit",
      { target: "gsv", path: "~/hello.txt", oldString: "hello", newString: "good day" },
    ],
    ["run script: return 'at last'", "CodeMode", { code: "return 'at last'" }],
    ['call echo with {"message": "meet at noon"}', "CodeMode", { code: 'return await echo({"message": "meet at noon"});' }],
    ["Please call the tool Tracker_list", "CodeMode", { code: "return await Tracker_list({});" }],
    ["list files in ~/tools", "Read", { target: "gsv", path: "~/tools" }],
    ["run script deploy.sh on laptop", "Shell", { target: "laptop", input: "script deploy.sh" }],
    ["show tools of my MCP servers", "CodeMode", { code: expect.stringContaining("mcpTools") as string }],
    ["which tools do my MCP servers have?", "CodeMode", { code: expect.stringContaining("mcpTools") as string }],
  ])("understands: %s", (text, tool, args) => {
    expect(callOf(text)).toMatchObject({ name: tool, arguments: args });
  });

  it("explains itself, and how to set up a real model, if it does not understand", () => {
    for (const text of [
      "help",
      "Hello!",
      "why is the sky blue?",
      "",
      "write me a poem about the sea",
      "delete everything",
      "call echo with {oops}",
      "call mom",
    ]) {
      const [block, ...rest] = demoAnswer(ask(text));
      expect(rest).toEqual([]);
      expect(block).toMatchObject({ type: "text", text: expect.stringContaining("gsv config set config/ai/provider") as string });
      expect(block).toMatchObject({ text: expect.stringContaining("I am the demo model, not an AI.") as string });
    }
  });

  it("uses different call ids for different processes and at different times", () => {
    const request = ask("run ls");
    const later = { ...request, messages: [...request.messages, { role: "assistant" as const, content: [] }, ...request.messages] };
    const ids = [request, later, { ...request, affinity: "proc-2" }].map((one) =>
      demoAnswer(one).find((block) => block.type === "toolCall"),
    );
    expect(new Set(ids.map((block) => block?.type === "toolCall" && block.id)).size).toBe(3);
  });

  it("calls no tool that is not offered", () => {
    expect(demoAnswer({ ...ask("run ls"), tools: [] })).toMatchObject([{ type: "text", text: expect.stringContaining("Shell") as string }]);
  });
});

describe("results", () => {
  const after = (text: string, ...results: [unknown, boolean?][]) => {
    const request = ask(text);
    const call = callOf(text);
    if (call?.type !== "toolCall") throw new Error("no call");
    const answers = results.map(([result, isError = false]): ModelMessage => ({
      role: "tool",
      callId: call.id,
      toolName: call.name,
      isError,
      content: [{ type: "text", text: typeof result === "string" ? result : JSON.stringify(result) }],
    }));
    const [block] = demoAnswer({ ...request, messages: [...request.messages, { role: "assistant", content: [call] }, ...answers] });
    return block?.type === "text" ? block.text : "";
  };

  it("are described in a sentence or two", () => {
    expect(after("list files in ~/n on laptop", [{ ok: true, path: "/home/a/n", files: ["a.md"], directories: ["old", "new"] }])).toBe(
      `/home/a/n on laptop contains 2 directories and 1 file:\nold/\nnew/\na.md`,
    );
    expect(after("read ~/a.md", [{ ok: true, path: "/home/a/a.md", content: "     1\thello", lines: 1, size: 6 }])).toContain("hello");
    expect(after("run ls", [{ status: "completed", exitCode: 0, output: "a\nb\n" }])).toBe(`The command ended on gsv. Its output:\na\nb`);
    expect(after("run false", [{ status: "completed", exitCode: 1, output: "" }])).toContain("exit code 1");
    expect(after("run x", [{ status: "failed", error: "too long", output: "some" }])).toContain("did not work on gsv: too long\nsome");
    expect(after("read ~/a", [{ ok: false, error: "Not found: ~/a" }])).toContain("Not found: ~/a");
    expect(after("delete ~/a", ["Error: The person said no", true])).toContain("The person said no");
    expect(after("show devices", [{ ok: true, path: "/sys/devices", files: [], directories: ["laptop", "pi"] }])).toContain(
      "2 devices: laptop, pi",
    );
    expect(after("show devices", [{ ok: true, path: "/sys/devices", files: [], directories: [] }])).toContain("gsv token create --device");
    expect(after("run script: return 'hi'", [{ status: "completed", result: "hi" }])).toBe(`The script ended. It returned:\nhi`);
    expect(after("call tool echo", [{ status: "completed", result: { a: 1 } }])).toContain('{\n  "a": 1\n}');
    expect(after("call tool echo", [{ status: "failed", error: "echo is not defined" }])).toContain(
      "did not work in the script: echo is not defined",
    );
    expect(after("run ls", ["plain text"])).toContain("plain text");
  });
});

it("streams word by word, needs no network, and stops on abort", async () => {
  const models = testModels({ net: memoryNet() });
  const { events, end } = await listen(models, ask("run uname -a on laptop"));
  expect(end).toMatchObject({ type: "done", stop: "tools", usage: { cost: { total: 0 } } });
  expect(events.filter(({ type }) => type === "text_delta").length).toBeGreaterThan(3);
  expect((await listen(models, ask("run uname -a on laptop"))).events).toEqual(events);
  const stop = new AbortController();
  const received = [];
  for await (const event of models.stream(ask("help"), stop.signal)) {
    received.push(event);
    if (received.length === 3) stop.abort();
  }
  expect(received.at(-1)).toMatchObject({ type: "error", error: { kind: "aborted" }, content: [{ type: "text", text: "I am" }] });
});
