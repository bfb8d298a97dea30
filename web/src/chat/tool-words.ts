// What tool calls do, in words: one call as "Ran `uptime` on laptop", several as "Ran 4 commands, read 2 files on laptop". Pure
// functions; they return text of models, which the caller makes visible.

import { isMcpTool, isScriptTool } from "../../../src/client/client.ts";
import { type Tense, verbOfSession, verbOfTool } from "../../../src/lib/tool-verbs.ts";
import { callSubjectOf, callTargetOf, type ToolCall } from "./message-content.ts";

export type CallWords = { verb: string; subject: string; place: string };

/** `place` is empty on the gateway. */
export function describeCall(call: ToolCall, tense: Tense): CallWords {
  const target = callTargetOf(call);
  const place = target === "gsv" || isScriptTool(call.name) || isMcpTool(call.name) ? "" : `on ${target}`;
  const session = verbOfSession(call);
  if (session !== null) return { verb: session[tense], subject: "", place };
  return { verb: verbOfTool(call.name)[tense], subject: callSubjectOf(call), place };
}

/** In the order in which a summary names them. */
const KINDS: readonly { names: (name: string) => boolean; words: (count: number) => string }[] = [
  { names: isScriptTool, words: (count) => `ran ${countOf(count, "script")}` },
  { names: (name) => name === "Shell", words: (count) => `ran ${countOf(count, "command")}` },
  { names: (name) => name === "Read", words: (count) => `read ${countOf(count, "file")}` },
  { names: (name) => name === "Search", words: (count) => (count === 1 ? "searched once" : `searched ${count} times`) },
  { names: (name) => name === "Edit", words: (count) => `edited ${countOf(count, "file")}` },
  { names: (name) => name === "Write", words: (count) => `wrote ${countOf(count, "file")}` },
  { names: (name) => name === "Delete", words: (count) => `deleted ${countOf(count, "file")}` },
  { names: () => true, words: (count) => `used ${countOf(count, "tool")}` },
];

/** Such as "Ran 4 commands, read 2 files on laptop". */
export function summarizeCalls(calls: readonly ToolCall[]): string {
  const counts = KINDS.map(() => 0);
  for (const { name } of calls) counts[KINDS.findIndex(({ names }) => names(name))]! += 1;
  const parts = KINDS.flatMap(({ words }, at) => (counts[at]! > 0 ? [words(counts[at]!)] : []));
  const text = [parts.join(", "), placeOfAll(calls)].filter((part) => part !== "").join(" ");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

function placeOfAll(calls: readonly ToolCall[]): string {
  const targets = [...new Set(calls.filter(({ name }) => !isScriptTool(name) && !isMcpTool(name)).map(callTargetOf))];
  const machines = targets.filter((target) => target !== "gsv");
  if (machines.length === 0) return "";
  const where = machines.length === 1 ? machines[0]! : `${machines.length} machines`;
  return targets.length > machines.length ? `on ${where} and the gateway` : `on ${where}`;
}

function countOf(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
