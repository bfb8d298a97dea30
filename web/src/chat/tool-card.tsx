// A tool call as a card: one line with the tool, its subject, its target and its state; opened, the arguments and the output, or what
// a script does (script-body.tsx).

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isScriptTool, nameOfTool } from "../../../src/client/client.ts";
import { Lazy } from "../frame/lazy.tsx";
import type { CallOutcome, Conversation } from "../state/conversation.ts";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { callSubjectOf, callTargetOf, type ToolCall } from "./message-content.ts";
import { MediaList } from "./media.tsx";
import type { RowResult } from "./message-rows.ts";
import { findScriptOfQuestion } from "./scripts.ts";
import { ToolOutput } from "./tool-output.tsx";
import { Elapsed } from "./elapsed.tsx";
import { formatDuration } from "./format-duration.ts";
import "./tool-card.css";

type CardProps = { conversation: Conversation; call: ToolCall; result: RowResult | null; isStreaming?: boolean };
type CallBadge = { word: string; tone: "wait" | "run" | "good" | "bad" | "plain" };
const ICON = { wait: "approval", good: "check", bad: "warning", plain: "info" } as const;

const loadScriptBody = () => import("./script-body.tsx");

export function ToolCard({ conversation, call, result, isStreaming = false }: CardProps) {
  const [isOpen, setOpen] = useState(false);
  const running = conversation.calls.value.get(call.id) ?? null;
  const output = result?.output ?? running?.end?.text ?? null;
  const state = badgeForCall(conversation, call, result, isStreaming);
  const target = callTargetOf(call);
  const durationMs = result?.durationMs ?? null;
  const live = isScriptTool(call.name) ? conversation.scripts.value.get(call.id) : undefined;
  // What is stored with the result is shorter, but whole.
  const made = live?.hasStart === true ? live : (result?.made ?? live ?? null);
  const madeCalls = made?.hasStart === true ? made.count : 0;
  return (
    <div class="tool" data-tone={state.tone}>
      <button type="button" class="tool-head" aria-expanded={isOpen ? "true" : "false"} onClick={() => setOpen(!isOpen)}>
        <span class="tool-fold" data-open={isOpen}>
          <Icon name="right" />
        </span>
        <span class="tool-name">{makeVisible(nameOfTool(call.name))}</span>
        <code class="tool-about">{makeVisible(firstLine(callSubjectOf(call)))}</code>
        {target !== "gsv" && <span class="tool-target">{makeVisible(target)}</span>}
        {madeCalls > 0 && (
          <span class="tool-target tool-count">{madeCalls === 1 ? "1 call" : `${madeCalls.toLocaleString("en")} calls`}</span>
        )}
        <span class="tool-state">
          {state.tone === "run" ? <Spinner /> : <Icon name={ICON[state.tone]} />}
          <span class={state.tone === "good" ? "unseen" : ""}>{state.word}</span>
          {durationMs !== null ? (
            <span class="tool-took">{formatDuration(durationMs)}</span>
          ) : (
            running !== null &&
            result === null &&
            state.tone !== "wait" && <Elapsed since={running.startedAt} until={running.end?.at ?? null} />
          )}
        </span>
      </button>
      {isOpen && (
        <div class="tool-body">
          {isScriptTool(call.name) ? (
            <Lazy load={loadScriptBody} props={{ call, output, made }} />
          ) : (
            <>
              <CallArguments call={call} />
              {output !== null && (
                <div class="tool-output">
                  <ToolOutput text={output} />
                </div>
              )}
            </>
          )}
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
  const isAsked = (conversation.questions.value.value ?? []).some(
    (question) => question.callId === call.id || findScriptOfQuestion(conversation, question)?.id === call.id,
  );
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

function firstLine(text: string): string {
  const [line = "", ...rest] = text.trim().split("\n");
  return `${line.slice(0, 200)}${rest.length > 0 || line.length > 200 ? " …" : ""}`;
}
