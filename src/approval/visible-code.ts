// Makes untrusted code show what it contains, as visible.ts does for text. Its lines keep their indentation.

import { describeGap, makeVisible } from "./visible.ts";

export function makeCodeVisible(code: string): string {
  return code
    .split("\n")
    .map(makeLineVisible)
    .join("\n")
    .replace(/\n{4,}/g, describeGap);
}

function makeLineVisible(line: string): string {
  const [indent] = INDENT.exec(line) ?? [""];
  return `${indent}${makeVisible(line.slice(indent.length))}`;
}

/** More would push a line out of sight. */
const INDENT = /^[ \t]{1,40}(?=[^ \t])/;
