// A tool call as a card: one line that says what it does, where, and its state; opened, the command or the arguments and the output,
// or what a script does (script-body.tsx).

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isScriptTool } from "../../../src/client/client.ts";
import { Lazy } from "../frame/lazy.tsx";
import type { Conversation } from "../state/conversation.ts";
import { Code } from "../ui/code.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { type CallState, stateOfCall } from "./call-state.ts";
import type { ToolCall } from "./message-content.ts";
import { MediaList } from "./media.tsx";
import type { RowResult } from "./message-rows.ts";
import { ToolOutput } from "./tool-output.tsx";
import { describeCall } from "./tool-words.ts";
import { Elapsed } from "./elapsed.tsx";
import { formatDuration } from "../ui/format-duration.ts";
import "./tool-card.css";

type CardProps = { conversation: Conversation; call: ToolCall; result: RowResult | null; isStreaming?: boolean };
/** The card says already that the command succeeded. */
const SUCCESS = /\n\[Exit code 0\]\s*$/;
const STATE_ICONS = { wait: "approval", good: "check", bad: "warning", plain: "info" } as const;

const loadScriptBody = () => import("./script-body.tsx");

export function ToolCard({ conversation, call, result, isStreaming = false }: CardProps) {
  const [isOpen, setOpen] = useState(false);
  const running = conversation.calls.value.get(call.id) ?? null;
  const output = result?.output ?? running?.end?.text ?? null;
  const state = stateOfCall(conversation, call, result, isStreaming);
  const { verb, subject, place } = describeCall(call, state.tense);
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
        <span class="tool-name">{makeVisible(verb)}</span>
        {subject !== "" && <code class="tool-about">{makeVisible(firstLine(subject))}</code>}
        {place !== "" && <span class="tool-target">{makeVisible(place)}</span>}
        {madeCalls > 0 && (
          <span class="tool-target tool-count">{madeCalls === 1 ? "1 call" : `${madeCalls.toLocaleString("en")} calls`}</span>
        )}
        <StateMark state={state}>
          {durationMs !== null ? (
            <span class="tool-took">{formatDuration(durationMs)}</span>
          ) : (
            running !== null &&
            result === null &&
            state.tone !== "wait" && <Elapsed since={running.startedAt} until={running.end?.at ?? null} />
          )}
        </StateMark>
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
                  <ToolOutput text={output.replace(SUCCESS, "")} />
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

/** Screen readers also hear the states that an icon shows to others. */
export function StateMark({ state, children }: { state: CallState; children: ComponentChildren }) {
  return (
    <span class="tool-state">
      {state.tone === "run" ? <Spinner /> : <Icon name={STATE_ICONS[state.tone]} />}
      <span class={state.tone === "good" || state.tone === "run" ? "unseen" : ""}>{state.word}</span>
      {children}
    </span>
  );
}

function CallArguments({ call }: { call: ToolCall }) {
  const command = commandOf(call);
  if (command !== null)
    return (
      <>
        <Code text={makeVisible(command)} />
        {typeof call.args?.cwd === "string" && <p class="soft small">in {makeVisible(call.args.cwd)}</p>}
      </>
    );
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

function commandOf({ name, args }: ToolCall): string | null {
  return name === "Shell" && typeof args?.input === "string" && args.sessionId === undefined ? args.input : null;
}

function firstLine(text: string): string {
  const [line = "", ...rest] = text.trim().split("\n");
  return `${line.slice(0, 200)}${rest.length > 0 || line.length > 200 ? " …" : ""}`;
}
