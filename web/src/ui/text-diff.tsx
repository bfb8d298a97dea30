// What a text was and what it is now, in one column. The signs, not only the colours, tell them apart.

import { useMemo } from "preact/hooks";
import { type DiffLine, diffLines } from "./diff-lines.ts";
import "./text-diff.css";

/** Both texts are visible already. */
export function TextDiff({ title, before, after }: { title: string; before: string; after: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const isNew = before === "";
  return (
    <div class="code-text-box">
      <p class="soft small" aria-hidden="true">
        {title}
        {isNew ? ": new" : after === "" ? ": removed" : ": before and after"}
      </p>
      <pre class="diff" tabIndex={0} role="group" aria-label={`${title}, before and after`} dir="ltr">
        {lines.map((line, at) => (
          <Line key={at} line={line} />
        ))}
      </pre>
    </div>
  );
}

const SIGNS = { same: " ", gone: "−", new: "+" } as const;
const WORDS = { same: "", gone: "Before: ", new: "After: " } as const;

function Line({ line }: { line: DiffLine }) {
  if (line.kind === "skipped")
    return (
      <span class="diff-line diff-skipped">
        <span class="diff-sign" aria-hidden="true">
          ⋯
        </span>
        <span>{line.count} lines as before</span>
        {"\n"}
      </span>
    );
  const { kind, parts } = line;
  const Tag = kind === "gone" ? "del" : kind === "new" ? "ins" : "span";
  return (
    <Tag class={`diff-line diff-${kind}`}>
      <span class="diff-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span>
        {WORDS[kind] !== "" && <span class="unseen">{WORDS[kind]}</span>}
        {parts.map(({ text, isChanged }, at) => (isChanged ? <mark key={at}>{text}</mark> : text))}
      </span>
      {"\n"}
    </Tag>
  );
}
