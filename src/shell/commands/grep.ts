// grep: just-bash's own, plus what it does not support: several patterns, and -s.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "grep",
  usage: "[-EFPivnclLqosrhHwx] [-e pattern] [-m count] [-A -B -C lines] [--include=glob] pattern [path...]",
  doc: "Print lines that match a pattern. Works as on any Unix; -P does not support lookahead and lookbehind.",
  async run({ builtin }, args) {
    const patterns: string[] = [];
    const others: string[] = [];
    let [isSilent, isFixed, isExtended] = [false, false, false];
    let at = 0;
    for (; at < args.length && args[at] !== "--"; at++) {
      const arg = args[at]!;
      const inline = /^--regexp=([\s\S]*)$/.exec(arg)?.[1] ?? /^-e([\s\S]+)$/.exec(arg)?.[1];
      if (inline !== undefined) patterns.push(inline);
      else if (arg === "-e" || arg === "--regexp") patterns.push(args[++at] ?? "");
      else if (OPTION_WITH_VALUE.test(arg)) others.push(arg, args[++at] ?? "");
      else if (/^-[a-zA-Z]+$/.test(arg)) {
        isSilent ||= arg.includes("s");
        isFixed ||= arg.includes("F");
        isExtended ||= /[EP]/.test(arg);
        const last = arg.endsWith("e") ? args[++at] : undefined;
        if (last !== undefined) patterns.push(last);
        const rest = arg.replace(/s|e$/g, "");
        if (rest !== "-") others.push(rest);
      } else others.push(arg);
    }
    const patternArgs =
      patterns.length < 2 ? patterns.flatMap((pattern) => ["-e", pattern]) : ["-e", joinPatterns(patterns, isFixed, isExtended)];
    // Several fixed patterns become one extended expression, because only that has alternatives.
    const flags =
      isFixed && patterns.length > 1
        ? ["-E", ...others.map((arg) => (/^-[a-zA-Z]+$/.test(arg) ? arg.replace("F", "") : arg)).filter((arg) => arg !== "-")]
        : others;
    const result = await builtin([...patternArgs, ...flags, ...args.slice(at)]);
    return isSilent ? { ...result, stderr: "" } : result;
  },
});

const OPTION_WITH_VALUE = /^-(?:[a-zA-Z]*[mABCf])$/;

function joinPatterns(patterns: readonly string[], isFixed: boolean, isExtended: boolean): string {
  if (isFixed) return patterns.map((pattern) => pattern.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  return isExtended ? patterns.map((pattern) => `(${pattern})`).join("|") : patterns.join("\\|");
}
