import { expect, test } from "vitest";
import compare from "../calls/repo/compare.ts";
import diff from "../calls/repo/diff.ts";
import { redactDiff } from "./visible-diff.ts";

const HUNKS = [{ oldStart: 0, oldCount: 0, newStart: 1, newCount: 1, lines: [{ tag: "add" as const, content: "KEY=1" }] }];
const FILES = ["a.ts", "deploy/.env", "deploy/.env.example"].map((path) => ({
  path,
  status: "added" as const,
  newHash: "1",
  hunks: HUNKS,
}));
const AGENT = { pid: "p1", profile: "task", runId: null, conversationId: null, callId: null, toolName: null };
const SHOWN = [FILES[0], { path: "deploy/.env", status: "added", newHash: "1" }, FILES[2]];

test("an agent sees that a file with secrets changed, but not its content; a person sees both", () => {
  expect(redactDiff({}, FILES)).toEqual(FILES);
  expect(redactDiff({ agent: AGENT }, FILES)).toEqual(SHOWN);
});

test.each([diff, compare])("$name", async (call) => {
  const context = { repositories: { requireReadable: () => ({ repo: "ann/a" }) }, repos: { ask: () => Promise.resolve({ files: FILES }) } };
  const files = async (caller: object) => (await call.run(context as never, caller as never, {})).files;
  expect(await files({})).toEqual(FILES);
  expect(await files({ agent: AGENT })).toEqual(SHOWN);
});
