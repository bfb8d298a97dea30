// A tool call as a card: one line with the tool, its subject, its target and its state; opened, the arguments and the output. Long
// output is shortened to its beginning and end.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { CallOutcome, Conversation } from "../state/conversation.ts";
import { Button } from "../ui/button.tsx";
import { Code } from "../ui/code.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { wholeOutputPath, callSubjectOf, callTargetOf, type ToolCall } from "./message-content.ts";
import { MediaList } from "./media.tsx";
import type { RowResult } from "./message-rows.ts";
import { Elapsed } from "./elapsed.tsx";
import "./tool-card.css";

type CardProps = { conversation: Conversation; call: ToolCall; result: RowResult | null; isStreaming?: boolean };
type CallBadge = { word: string; tone: "wait" | "run" | "good" | "bad" | "plain" };
const ICON = { wait: "approval", good: "check", bad: "warning", plain: "info" } as const;

const HEAD_LINES = 12;
const TAIL_LINES = 8;
const LONG_CHARS = 6_000;

export function ToolCard({ conversation, call, result, isStreaming = false }: CardProps) {
  const [isOpen, setOpen] = useState(false);
  const running = conversation.calls.value.get(call.id) ?? null;
  const output = result?.output ?? running?.end?.text ?? null;
  const state = badgeForCall(conversation, call, result, isStreaming);
  const target = callTargetOf(call);
  const durationMs = result?.durationMs ?? null;
  return (
    <div class="tool" data-tone={state.tone}>
      <button type="button" class="tool-head" aria-expanded={isOpen ? "true" : "false"} onClick={() => setOpen(!isOpen)}>
        <span class="tool-fold" data-open={isOpen}>
          <Icon name="right" />
        </span>
        <span class="tool-name">{makeVisible(call.name)}</span>
        <code class="tool-about">{makeVisible(firstLine(callSubjectOf(call)))}</code>
        {target !== "gsv" && <span class="tool-target">{makeVisible(target)}</span>}
        <span class="tool-state">
          {state.tone === "run" ? <Spinner /> : <Icon name={ICON[state.tone]} />}
          <span class={state.tone === "good" ? "unseen" : ""}>{state.word}</span>
          {durationMs !== null ? (
            <span class="tool-took">{formatDuration(durationMs)}</span>
          ) : (
            running !== null && result === null && <Elapsed since={running.startedAt} until={running.end?.at ?? null} />
          )}
        </span>
      </button>
      {isOpen && (
        <div class="tool-body">
          <CallArguments call={call} />
          {output !== null && <Output text={output} />}
        </div>
      )}
      {result !== null && result.media.length > 0 && (
        <div class="tool-media">
          <MediaList pid={conversation.pid} media={result.media} />
        </div>
      )}
    </div>
  );
}

function badgeForCall(conversation: Conversation, call: ToolCall, result: RowResult | null, isStreaming: boolean): CallBadge {
  if (result !== null) return badgeForOutcome(result.isError, result.outcome, result.output);
  if (isStreaming) return { word: "being written", tone: "run" };
  const end = conversation.calls.value.get(call.id)?.end;
  if (end != null) return badgeForOutcome(!end.ok, end.outcome, end.text);
  const isAsked = (conversation.questions.value.value ?? []).some(({ callId }) => callId === call.id);
  if (isAsked) return { word: "waits for you", tone: "wait" };
  return conversation.run.value === null ? { word: "no result", tone: "bad" } : { word: "running", tone: "run" };
}

function badgeForOutcome(isError: boolean, outcome: CallOutcome | null, output: string): CallBadge {
  if (outcome !== null) return { word: outcome, tone: "plain" };
  if (isError) return { word: "failed", tone: "bad" };
  // The command is still running in the background.
  if (/\[Still running[^\]]*\]\s*$/.test(output)) return { word: "left running", tone: "plain" };
  const exit = /\[Exit code (\d+)\]\s*$/.exec(output)?.[1];
  return exit === undefined || exit === "0" ? { word: "done", tone: "good" } : { word: `exit ${exit}`, tone: "plain" };
}

function CallArguments({ call }: { call: ToolCall }) {
  if (call.args === null) return <pre class="tool-text">{makeVisible(call.raw ?? "")}</pre>;
  return (
    <dl class="tool-args">
      {Object.entries(call.args).map(([name, value]) => (
        <div key={name} class="tool-arg">
          <dt>{makeVisible(name)}</dt>
          <dd>
            <pre class="tool-text">{makeVisible(typeof value === "string" ? value : JSON.stringify(value, null, 2))}</pre>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Output({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.split("\n");
  const isLong = lines.length > HEAD_LINES + TAIL_LINES + 4 || text.length > LONG_CHARS;
  const path = wholeOutputPath(text);
  const isCut = isLong && !isWhole;
  const visibleText = isCut ? shortenOutput(lines, text) : text;
  return (
    <div class="tool-output">
      <pre class="tool-text" tabIndex={0} role="group" aria-label="Output">
        {makeVisible(visibleText) || "nothing was said"}
      </pre>
      {isLong && (
        <Button look="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all ${lines.length.toLocaleString("en")} lines`}
        </Button>
      )}
      {path !== null && <Code text={path} label="the path of the whole output" />}
    </div>
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

function firstLine(text: string): string {
  const [line = "", ...rest] = text.trim().split("\n");
  return `${line.slice(0, 200)}${rest.length > 0 || line.length > 200 ? " …" : ""}`;
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
