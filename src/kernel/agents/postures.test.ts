// Which posture a conversation has, by its own settings and those of whoever gave it work.

import { beforeEach, expect, test } from "vitest";
import { TRUSTED_MS } from "../../approval/posture.ts";
import { NodeSql } from "../../hosts/node/sql.ts";
import type { Posture } from "../../protocol/process-settings.ts";
import { ProcessOrigins } from "../nouns/process-origins.ts";
import { NO_SETTINGS, ProcessSettings } from "../nouns/process-settings.ts";
import { migrate } from "../schema/migrate.ts";
import { findPosture, makeOrigin, postureEndOf } from "./postures.ts";

let reads: { processSettings: ProcessSettings; processOrigins: ProcessOrigins; now: number };

beforeEach(() => {
  const sql = new NodeSql(":memory:", () => {});
  migrate(sql);
  reads = { processSettings: new ProcessSettings(sql), processOrigins: new ProcessOrigins(sql), now: 1_000_000 };
});

function set(pid: string, conversationId: string | null, posture: Posture | null): void {
  reads.processSettings.set({ pid, conversationId }, { ...NO_SETTINGS, posture, postureEndsAt: postureEndOf(posture, reads.now) });
}

function postureOf(pid: string, conversationId: string | null = "default"): Posture {
  return findPosture(reads, { pid, conversationId }).posture;
}

function send(from: [pid: string, conversationId: string], to: [pid: string, conversationId: string], runId = "r"): void {
  const [pid, conversationId] = from;
  reads.processOrigins.addMessage({ pid: to[0], runId, conversationId: to[1] }, makeOrigin(reads, { pid, conversationId }));
}

test("a conversation's own posture comes before its process's", () => {
  expect(findPosture(reads, { pid: "p", conversationId: "c" })).toEqual({
    posture: "careful",
    postureEndsAt: null,
    postureFrom: "default",
  });
  set("p", null, "ask");
  expect(findPosture(reads, { pid: "p", conversationId: "c" })).toMatchObject({ posture: "ask", postureFrom: "process" });
  set("p", "c", "careful");
  expect(findPosture(reads, { pid: "p", conversationId: "c" })).toMatchObject({ posture: "careful", postureFrom: "conversation" });
  expect(postureOf("p", "other")).toBe("ask");
});

test("trust ends after a day, also if nobody clears it, and when the clock was set back", () => {
  set("p", "default", "trusted");
  expect(findPosture(reads, { pid: "p", conversationId: "default" })).toMatchObject({ postureEndsAt: reads.now + TRUSTED_MS });
  reads.now += TRUSTED_MS - 1;
  expect(postureOf("p")).toBe("trusted");
  reads.now += 1;
  expect(postureOf("p")).toBe("careful");
  reads.now = 0;
  expect(postureOf("p")).toBe("careful");
  expect(reads.processSettings.listEnded(0, TRUSTED_MS)).toEqual([{ pid: "p", conversationId: "default" }]);
});

test("a child of one that asks before every action asks too, and one of a trusted one is not trusted", () => {
  reads.processOrigins.addProcess("child", makeOrigin(reads, { pid: "p", conversationId: "c" }));
  reads.processOrigins.addProcess("grandchild", makeOrigin(reads, { pid: "child", conversationId: "default" }));
  expect(postureOf("grandchild")).toBe("careful");
  set("p", "c", "trusted");
  expect(postureOf("child")).toBe("careful");
  set("p", "c", "ask");
  expect(findPosture(reads, { pid: "child", conversationId: null })).toMatchObject({ posture: "ask", postureFrom: "parent" });
  expect(postureOf("grandchild")).toBe("ask");
  // A person who decides about the child decides.
  set("child", null, "careful");
  expect(postureOf("child")).toBe("careful");
});

test("a message of an agent makes its answer as strict as the agent, until it is answered", () => {
  set("p", "c", "ask");
  set("p", "trusted", "trusted");
  send(["p", "c"], ["p", "trusted"]);
  expect(postureOf("p", "trusted")).toBe("ask");
  // What that conversation starts meanwhile keeps asking.
  reads.processOrigins.addProcess("child", makeOrigin(reads, { pid: "p", conversationId: "trusted" }));
  reads.processOrigins.removeMessage("p", "r");
  expect(postureOf("p", "trusted")).toBe("trusted");
  expect(postureOf("child")).toBe("ask");
  // One that is careful does not become trusted by another's trust.
  send(["q", "default"], ["p", "trusted"]);
  expect(postureOf("p", "trusted")).toBe("careful");
});

test("what an agent sends on stays as strict as it was then, after the message that made it so is answered", () => {
  set("p", null, "trusted");
  send(["s", "default"], ["p", "default"], "first");
  send(["p", "default"], ["p", "x"], "second");
  reads.processOrigins.removeMessage("p", "first");
  expect(postureOf("p")).toBe("trusted");
  expect(postureOf("p", "x")).toBe("careful");
  // And on: there and back.
  send(["p", "x"], ["p", "default"], "third");
  reads.processOrigins.removeMessage("p", "second");
  expect(postureOf("p", "x")).toBe("trusted");
  expect(postureOf("p")).toBe("careful");
  reads.processOrigins.removeMessage("p", "third");
  expect(postureOf("p")).toBe("trusted");
});

test("agents in a circle are as strict as the strictest, and a very long chain asks", () => {
  send(["a", "default"], ["b", "default"]);
  send(["b", "default"], ["a", "default"]);
  expect(postureOf("a")).toBe("careful");
  set("b", null, "ask");
  expect(postureOf("a")).toBe("ask");
  for (let number = 0; number < 300; number++) {
    const origin = { sourcePid: `n${number}`, sourceConversationId: "default", posture: "trusted" as const };
    reads.processOrigins.addMessage({ pid: `n${number + 1}`, runId: "r", conversationId: "default" }, origin);
  }
  expect(postureOf("n100")).toBe("careful");
  expect(postureOf("n300")).toBe("ask");
});
