// Search for words in messages.

import { beforeEach, expect, it } from "vitest";
import { read, text, World } from "../../../test/support/process-world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});

async function say(words: string, answer: string, conversationId = "default"): Promise<void> {
  world.now += 1_000;
  world.on(words, [text(answer)]);
  world.say(words, { conversationId });
  await world.idle();
}

const search = (query: string, more: { conversationId?: string; limit?: number } = {}) =>
  world.process.conversation.search({ query, ...more });

it("finds the newest first, ignoring case, with their offsets", async () => {
  await say("Where is the red BICYCLE?", "In the shed.");
  await say("And the keys?", `On the shelf. ${"The bicycle needs them. ".repeat(20)}`);
  const { matches, isWhole } = await search("bicycle");
  expect(isWhole).toBe(true);
  expect(matches.map(({ role, offset }) => [role, offset])).toEqual([
    ["assistant", 3],
    ["user", 0],
  ]);
  expect(matches[0]!.snippet).toMatch(/^On the shelf\. The bicycle .*…$/);
  expect(await search("(bicycle")).toEqual({ matches: [], isWhole: true });
  expect((await search("the  red")).matches).toHaveLength(1);
});

it("takes every sign of a query as it is", async () => {
  const signs = String.raw`well-known ^$.*+?()[]{}|/\&#~@!%=:;,<>"'`;
  await say(signs, "Yes");
  for (const query of [signs, "well-known", "-", ...Array.from(signs.replaceAll(/[\w\s]/gu, ""))])
    expect((await search(query)).matches, query).toHaveLength(1);
});

it("searches calls and their results, and respects the limit", async () => {
  world.on("look", [read("/etc/motd")], [text("done")]);
  world.say("look");
  await world.idle();
  expect((await search("motd")).matches.map(({ role }) => role)).toEqual(["toolResult", "assistant"]);
  const one = await search("motd", { limit: 1 });
  expect([one.matches.length, one.isWhole]).toEqual([1, false]);
});

it("searches all conversations unless one is named, and each archive once", async () => {
  await say("the first plum", "yes");
  await say("the second plum", "yes", "fruit");
  await say("the third plum", "yes");
  expect((await search("plum")).matches.map(({ conversationId }) => conversationId)).toEqual(["default", "fruit", "default"]);
  await world.process.conversation.compact({ keepLast: 2, summary: "There was a plum." });
  const { matches } = await search("plum", { conversationId: "default" });
  expect(matches.map(({ snippet, offset, segmentId }) => [snippet.includes("There was"), offset, segmentId === null])).toEqual([
    [false, 1, true],
    [true, 0, true],
    [false, null, false],
  ]);
});
