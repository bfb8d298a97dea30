// What a tool answered. A long text is shortened to its beginning and end.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { wholeOutputPath } from "./message-content.ts";

const HEAD_LINES = 12;
const TAIL_LINES = 8;
const LONG_CHARS = 6_000;

type OutputProps = { text: string; label?: string; render?: (visibleText: string) => ComponentChildren };

export function ToolOutput({ text: output, label = "Output", render = makeVisible }: OutputProps) {
  const text = sayDenial(output);
  const [isWhole, setWhole] = useState(false);
  const lines = text.split("\n");
  const isLong = lines.length > HEAD_LINES + TAIL_LINES + 4 || text.length > LONG_CHARS;
  const path = wholeOutputPath(text);
  const isCut = isLong && !isWhole;
  const visibleText = isCut ? shortenOutput(lines, text) : text;
  return (
    <>
      <pre class="tool-text" tabIndex={0} role="group" aria-label={label}>
        {text === "" ? "nothing was said" : render(visibleText)}
      </pre>
      {isLong && (
        <Button look="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : lines.length === 1 ? "Show all of it" : `Show all ${lines.length.toLocaleString("en")} lines`}
        </Button>
      )}
      {path !== null && <Code text={path} label="the path of the whole output" />}
    </>
  );
}

/** What the model is told of a denial, in words for the person who denied. */
function sayDenial(output: string): string {
  return output.replace(
    /^(?:Error: )?Tool execution denied by user(?:(: )|$)/,
    (_, colon: string | undefined) => `You denied this${colon ?? "."}`,
  );
}

function shortenOutput(lines: readonly string[], text: string): string {
  if (lines.length <= HEAD_LINES + TAIL_LINES) return `${text.slice(0, LONG_CHARS / 2)}\n…\n${text.slice(-LONG_CHARS / 4)}`;
  const hiddenLines = lines.length - HEAD_LINES - TAIL_LINES;
  const shortenLine = (line: string) => (line.length > 400 ? `${line.slice(0, 400)}…` : line);
  return [
    ...lines.slice(0, HEAD_LINES).map(shortenLine),
    `… ${hiddenLines.toLocaleString("en")} lines …`,
    ...lines.slice(-TAIL_LINES).map(shortenLine),
  ].join("\n");
}
