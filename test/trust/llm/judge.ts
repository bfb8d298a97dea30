// What must hold for every answer, however its stream ended: exactly one end event, which is the last; events in order; the
// content kept is what was shown, and nothing that was not sent. A call with arguments has exactly those that were sent.

import { isDeepStrictEqual } from "node:util";
import type { ModelEvent, OutputBlock } from "../../../src/ports/models.ts";
import type { Said, Script } from "../../support/models/script.ts";

/** What is wrong with it, or null. */
export function judge(events: readonly ModelEvent[], script: Script | null): string | null {
  const ends = events.filter(({ type }) => type === "done" || type === "error");
  const end = events.at(-1);
  if (ends.length !== 1 || (end?.type !== "done" && end?.type !== "error")) return `${ends.length} ends, the last event is ${end?.type}`;
  const since = events.slice(events.findLastIndex(({ type }) => type === "retrying") + 1, -1);
  return findDisorder(since, end.content) ?? (script === null ? null : findDifference(end.content, script, end.type === "done"));
}

function findDisorder(events: readonly ModelEvent[], content: readonly OutputBlock[]): string | null {
  const shown: { kind: string; text: string; isEnded: boolean }[] = [];
  for (const event of events) {
    if (!("index" in event)) return `${event.type} within an answer`;
    const [kind = "", what = ""] = event.type.split("_");
    if (what === "start") {
      if (event.index !== shown.length) return `block ${event.index} begins after ${shown.length} blocks`;
      shown.push({ kind, text: "", isEnded: false });
      continue;
    }
    const block = shown[event.index];
    if (block === undefined || block.kind !== kind || block.isEnded)
      return `${event.type} of block ${event.index}, which is ${JSON.stringify(block)}`;
    if ("delta" in event) block.text += event.delta;
    else block.isEnded = true;
  }
  if (shown.some(({ isEnded }) => !isEnded)) return "a block was begun and never ended";
  if (shown.length !== content.length) return `${shown.length} blocks were shown, ${content.length} are kept`;
  for (const [at, block] of content.entries()) {
    const text = block.type === "text" ? block.text : block.type === "thinking" ? block.thinking : (block.raw ?? shown[at]!.text);
    if (text !== shown[at]!.text) return `block ${at} shows ${JSON.stringify(shown[at]!.text)} and keeps ${JSON.stringify(text)}`;
  }
  return null;
}

function findDifference(content: readonly OutputBlock[], script: Script, isDone: boolean): string | null {
  if (isDone && content.length !== script.say.length) return `done with ${content.length} of ${script.say.length} blocks`;
  for (const [at, block] of content.entries()) {
    const said = script.say[at];
    if (said === undefined) return `block ${at} was never said`;
    const wrong = blockDifference(block, said, isDone);
    if (wrong !== null) return `block ${at}: ${wrong}`;
  }
  return null;
}

function blockDifference(block: OutputBlock, said: Said, isDone: boolean): string | null {
  if (block.type === "toolCall") {
    if (said.type !== "call" || said.name !== block.name) return `a call of ${block.name}`;
    if (block.arguments === null) return isDone ? "done without arguments" : null;
    return isDeepStrictEqual(block.arguments, JSON.parse(said.args)) ? null : `arguments ${JSON.stringify(block.arguments)}`;
  }
  if (said.type === "call") return `${block.type} in place of a call`;
  const text = block.type === "text" ? block.text : block.thinking;
  return (isDone ? said.text === text : said.text.startsWith(text)) && said.type === block.type ? null : `says ${JSON.stringify(text)}`;
}
