// Code with its tokens coloured, for an element that keeps line breaks.

import { useMemo } from "preact/hooks";
import { highlight } from "./highlight.ts";
import "./highlight.css";

export function Highlighted({ text, language }: { text: string; language: string }) {
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  return (
    <code>
      {tokens.map(({ kind, text }, at) =>
        kind === "plain" ? (
          text
        ) : (
          <span key={at} class={`hl-${kind}`}>
            {text}
          </span>
        ),
      )}
    </code>
  );
}
