// What an opened card shows of a script: its source, what it calls as it happens, its log, and its result or error. The history has the
// last calls of scripts that have ended.

import type { ComponentChildren, TargetedEvent } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { parseScriptReport, type ScriptCall, type ScriptCalls, type ScriptReport } from "../../../src/client/client.ts";
import { Highlighted } from "../markdown/highlighted.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { Elapsed } from "./elapsed.tsx";
import { formatDuration } from "../ui/format-duration.ts";
import { callSubjectOf, callTargetOf, parseScript, type ToolCall } from "./message-content.ts";
import { ToolOutput } from "./tool-output.tsx";
import "./script-body.css";

/** Log lines that are shown at once. */
const LOG_LINES = 100;
/** Within this distance of its end, the list of calls follows the newest. */
const END_PX = 24;

type ScriptBodyProps = { call: ToolCall; output: string | null; made: ScriptCalls | null };

export default function ScriptBody({ call, output, made }: ScriptBodyProps) {
  const source = parseScript(call);
  return (
    <>
      {source !== null && (
        <pre class="tool-text script-source" tabIndex={0} role="group" aria-label="Source" dir="ltr">
          <Highlighted text={makeCodeVisible(source)} language="js" />
        </pre>
      )}
      {made !== null && <CallList made={made} />}
      {output !== null && <Report output={output} />}
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="script-part" aria-labelledby={id}>
      <p class="script-title" id={id}>
        {title}
      </p>
      {children}
    </section>
  );
}

function CallList({ made: { hasStart, count, calls } }: { made: ScriptCalls }) {
  const earlier = count - calls.length;
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  // It follows the newest call, unless somebody scrolled away from it.
  useLayoutEffect(() => {
    if (isAtEnd.current) list.current!.scrollTop = list.current!.scrollHeight;
  }, [calls]);
  const noteScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: TargetedEvent<HTMLOListElement>) => {
    isAtEnd.current = scrollHeight - clientHeight - scrollTop < END_PX;
  };
  return (
    <Part title={hasStart ? "Calls" : "Calls since this page was opened"}>
      {earlier > 0 && <p class="soft small">{earlier.toLocaleString("en")} earlier calls are not shown</p>}
      <ol class="script-calls" ref={list} onScroll={noteScroll} tabIndex={0} role="list" aria-label="Calls of the script">
        {calls.map((one) => (
          <CallEntry key={one.callId} made={one} />
        ))}
      </ol>
    </Part>
  );
}

type CallLook = { word: string; tone: "wait" | "run" | "good" | "bad" | "plain" };
const ICON = { wait: "approval", good: "check", bad: "warning", plain: "info" } as const;

function lookOf({ isAsked, end }: ScriptCall): CallLook {
  if (end === null) return isAsked ? { word: "waiting for your answer", tone: "wait" } : { word: "running", tone: "run" };
  if (end.outcome !== null) return { word: end.outcome, tone: "plain" };
  return end.ok ? { word: "done", tone: "good" } : { word: "failed", tone: "bad" };
}

function CallEntry({ made }: { made: ScriptCall }) {
  const { callId, name, args, startedAt, isAsked, end } = made;
  const { word, tone } = lookOf(made);
  const call = { id: callId, name, args, raw: null };
  const target = callTargetOf(call);
  // Without arguments its start was missed.
  const about = Object.keys(args).length === 0 ? "" : callSubjectOf(call);
  const why = end !== null && end.outcome === null && !end.ok ? end.text : "";
  return (
    <li class="script-call" data-tone={tone}>
      <span class="script-call-icon">{tone === "run" ? <Spinner /> : <Icon name={ICON[tone]} />}</span>
      <span class="script-call-name">{makeVisible(name)}</span>
      <code class="script-call-about">{makeVisible(about)}</code>
      {target !== "gsv" && <span class="tool-target">{makeVisible(target)}</span>}
      <span class="script-call-state">
        <span class={tone === "good" ? "unseen" : ""}>{word}</span>{" "}
        {end === null ? !isAsked && <Elapsed since={startedAt} /> : end.durationMs > 0 && formatDuration(end.durationMs)}
      </span>
      {why !== "" && <p class="script-call-why">{makeVisible(why)}</p>}
    </li>
  );
}

function Report({ output }: { output: string }) {
  const report = parseScriptReport(output);
  if (report === null)
    return (
      <Part title="Output">
        <ToolOutput text={output} />
      </Part>
    );
  return (
    <>
      {report.logs.length > 0 && <Log lines={report.logs} />}
      {report.status === "completed" ? <Result result={report.result} /> : <Failure report={report} />}
    </>
  );
}

function Log({ lines }: { lines: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, LOG_LINES);
  return (
    <Part title="Log">
      <ol class="script-log tool-text" tabIndex={0} role="list" aria-label="Log lines">
        {shown.map((line, at) => (
          <li key={at} data-tone={toneOfLine(line)}>
            {makeVisible(line)}
          </li>
        ))}
      </ol>
      {lines.length > LOG_LINES && (
        <Button look="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? "Show less" : `Show all ${lines.length.toLocaleString("en")} lines`}
        </Button>
      )}
    </Part>
  );
}

function toneOfLine(line: string): string | undefined {
  return /^\[(warn|error)\] /.exec(line)?.[1];
}

function Result({ result }: { result: unknown }) {
  if (result === undefined || result === null)
    return (
      <Part title="Result">
        <p class="soft small">Nothing was returned</p>
      </Part>
    );
  const isText = typeof result === "string";
  return (
    <Part title="Result">
      <ToolOutput
        text={isText ? result : JSON.stringify(result, null, 2)}
        label="Result"
        render={isText ? makeVisible : (text) => <Highlighted text={makeCodeVisible(text)} language="json" />}
      />
    </Part>
  );
}

type FailedReport = Extract<ScriptReport, { status: "failed" }>;

function Failure({ report }: { report: FailedReport }) {
  const { what, where } = splitStack(report);
  return (
    <Part title="Error">
      <pre class="tool-text script-error" role="group" tabIndex={0} aria-label="Error">
        {makeVisible(what)}
        {where !== "" && <span class="script-stack">{`\n${makeCodeVisible(where)}`}</span>}
      </pre>
    </Part>
  );
}

/** A stack usually begins with the name of the error and its message. */
function splitStack({ error, stack }: FailedReport): { what: string; where: string } {
  const end = stack.indexOf(error) + error.length;
  const isRepeated = stack.includes(error) && !stack.slice(0, end - error.length).includes("\n");
  return isRepeated ? { what: stack.slice(0, end), where: stack.slice(end).replace(/^\n/, "") } : { what: error, where: stack };
}
