// What did not go well among several tool calls, in words. Pure.

import type { CallState } from "./call-state.ts";

/** Such as "1 failed, 1 denied"; empty if all went well. */
export function summarizeProblems(states: readonly CallState[]): string {
  const count = (isOne: (state: CallState) => boolean) => states.filter(isOne).length;
  const exits = states.filter(({ word }) => word.startsWith("exit "));
  const parts: [number, string][] = [
    [count(({ tone }) => tone === "bad"), "failed"],
    [exits.length === 1 ? 0 : exits.length, "with an exit code"],
    [count(({ word }) => /den(?:ied|y)|nobody/i.test(word)), "denied"],
    [count(({ word }) => word === "stopped"), "stopped"],
    [count(({ word }) => word === "still running"), "still running"],
  ];
  const words = parts.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : []));
  return [...(exits.length === 1 ? [exits[0]!.word] : []), ...words].join(", ");
}
