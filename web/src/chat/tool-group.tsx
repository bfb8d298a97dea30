// The consecutive tool calls of a run, folded to one line: what was done, what did not go well, and how long it took. Opened, it shows
// the cards of the calls, and what the model thought before each.

import { Component } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { Conversation } from "../state/conversation.ts";
import { Icon } from "../ui/icon.tsx";
import { summarizeProblems } from "./call-problems.ts";
import { type CallState, stateOfCall } from "./call-state.ts";
import { formatDuration } from "../ui/format-duration.ts";
import type { ToolStep } from "./message-rows.ts";
import { StateMark, ToolCard } from "./tool-card.tsx";
import { Thoughts } from "./thoughts.tsx";
import { describeCall, summarizeCalls } from "./tool-words.ts";
import "./tool-card.css";

type GroupProps = { conversation: Conversation; steps: readonly ToolStep[] };

/** While an answer streams, the list renders its rows every frame; unchanged groups are not rendered again. */
export class ToolGroup extends Component<GroupProps> {
  override shouldComponentUpdate({ conversation, steps }: GroupProps): boolean {
    const before = this.props;
    if (conversation !== before.conversation || steps.length !== before.steps.length) return true;
    return steps.some(
      (step, at) => step.message !== before.steps[at]!.message || step.result?.message !== before.steps[at]!.result?.message,
    );
  }

  render({ conversation, steps }: GroupProps) {
    return (
      <article class="message message-agent" aria-label="Agent, tools">
        {steps.length === 1 ? <Step conversation={conversation} step={steps[0]!} /> : <Folded conversation={conversation} steps={steps} />}
      </article>
    );
  }
}

function Step({ conversation, step }: { conversation: Conversation; step: ToolStep }) {
  return (
    <>
      <Thoughts thoughts={step.thoughts} />
      <ToolCard conversation={conversation} call={step.call} result={step.result} />
    </>
  );
}

function Folded({ conversation, steps }: GroupProps) {
  const [isOpen, setOpen] = useState(false);
  const states = steps.map(({ call, result }) => stateOfCall(conversation, call, result));
  const state = stateOfGroup(states);
  return (
    <div class="tools" data-tone={state.tone} data-open={isOpen}>
      <button type="button" class="tool-head" aria-expanded={isOpen ? "true" : "false"} onClick={() => setOpen(!isOpen)}>
        <span class="tool-fold" data-open={isOpen}>
          <Icon name="right" />
        </span>
        <span class="tools-about">
          <Summary steps={steps} states={states} />
        </span>
        <StateMark state={state}>
          <Duration steps={steps} />
        </StateMark>
      </button>
      {isOpen && (
        <div class="tools-list">
          {steps.map((step) => (
            <Step key={step.call.id} conversation={conversation} step={step} />
          ))}
        </div>
      )}
    </div>
  );
}

/** The call that runs or waits; otherwise what was done. */
function Summary({ steps, states }: { steps: readonly ToolStep[]; states: readonly CallState[] }) {
  const active = states.findIndex(({ tone }) => tone === "run" || tone === "wait");
  if (active === -1) return <>{makeVisible(summarizeCalls(steps.map(({ call }) => call)))}</>;
  const { verb, subject, place } = describeCall(steps[active]!.call, states[active]!.tense);
  const ended = states.filter(({ tone }) => tone !== "run" && tone !== "wait").length;
  return (
    <>
      {makeVisible(verb)} {subject !== "" && <code>{makeVisible(subject.split("\n")[0]!.slice(0, 200))}</code>} {makeVisible(place)}
      {ended > 0 && ` after ${ended === 1 ? "1 other call" : `${ended} other calls`}`}
    </>
  );
}

function stateOfGroup(states: readonly CallState[]): CallState {
  const active = states.find(({ tone }) => tone === "wait") ?? states.find(({ tone }) => tone === "run");
  if (active !== undefined) return active;
  const problems = summarizeProblems(states);
  if (problems === "") return { word: "done", tone: "good", tense: "past" };
  return { word: problems, tone: states.some(({ tone }) => tone === "bad") ? "bad" : "plain", tense: "past" };
}

/** Of all calls together, once all have ended. */
function Duration({ steps }: { steps: readonly ToolStep[] }) {
  const durations = steps.map(({ result }) => result?.durationMs ?? null);
  if (steps.some(({ result }) => result === null) || durations.every((one) => one === null)) return null;
  return <span class="tool-took">{formatDuration(durations.reduce<number>((total, one) => total + (one ?? 0), 0))}</span>;
}
