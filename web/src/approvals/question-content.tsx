// What a question is about, in the form in which it is easiest to judge: a command or a script as code, an edit as a diff, a new file by its
// content, a deletion as the list of paths, a message as its text. Every argument of the call is here: what has no form of its own
// is listed below by name.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatBody } from "../../../src/approval/show.ts";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { nameOfAgent } from "../../../src/lib/agent-names.ts";
import { Highlighted } from "../markdown/highlighted.tsx";
import { findAgent } from "../state/agents.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import { Button } from "../ui/button.tsx";
import { type Seen, useSeen } from "./use-seen.ts";

type Args = PendingQuestion["args"];
type Content = {
  /** Says what the box holds, for screen readers. */
  label: string;
  body: ComponentChildren;
  /** Arguments that the body or the title shows whole. */
  shown: readonly string[];
};
type ContentProps = { question: PendingQuestion; onSeen: () => void };

/** Calls `onSeen` once all of it was in view. */
export function QuestionContent({ question, onSeen }: ContentProps) {
  const isEdit = question.syscall === "fs.edit" && typeof question.args.oldString === "string";
  const diff = useDiff(isEdit ? question.args : null);
  const isReady = !isEdit || diff !== null;
  const seen = useSeen(isReady);
  useEffect(() => {
    if (seen.isWhole) onSeen();
  }, [seen.isWhole]);
  const { label, body, shown } = isEdit
    ? { label: "The change", body: diff, shown: ["path", "oldString", "newString"] }
    : contentOf(question);
  return (
    <>
      <div class="question-what" tabIndex={0} role="group" aria-label={label} dir="ltr">
        <span class="question-edge" ref={seen.start} />
        {body}
        <Rest question={question} shown={shown} />
        <span class="question-edge" ref={seen.end} />
      </div>
      {!seen.isWhole && isReady && <ScrollOn seen={seen} />}
    </>
  );
}

/** For the keyboard, and for those who do not see that the box scrolls. */
function ScrollOn({ seen }: { seen: Seen }) {
  const scroll = () => {
    const box = seen.end.current?.parentElement;
    box?.scrollBy({ top: box.clientHeight - 32 });
    if (box !== null && box !== undefined && box.scrollTop + box.clientHeight >= box.scrollHeight - 1)
      seen.end.current?.scrollIntoView({ block: "nearest" });
  };
  return (
    <p class="question-more">
      <span>There is more. Scroll to the end to allow it.</span>
      <Button look="quiet" onClick={scroll}>
        Scroll on
      </Button>
    </p>
  );
}

function contentOf(question: PendingQuestion): Content {
  const { syscall, args, target } = question;
  switch (syscall) {
    case "shell.exec":
      return {
        label: "The command",
        body: <Source text={textOf(args.input)} language="sh" />,
        shown: ["input", "cwd", ...(args.target === target ? ["target"] : [])],
      };
    case "codemode.exec":
    case "codemode.run":
      return { label: "The script", body: <Source text={textOf(args.code)} language="js" />, shown: ["code"] };
    case "fs.write":
      return {
        label: "The new content",
        body: <NewFile path={textOf(args.path)} content={textOf(args.content)} />,
        shown: ["path", "content"],
      };
    case "fs.delete":
      return { label: "What is deleted", body: <Paths paths={[textOf(args.path)]} />, shown: ["path"] };
    case "proc.send":
    case "proc.ipc.send":
    case "proc.ipc.call":
      return { label: "The message", body: <Message pid={textOf(args.pid)} text={textOf(args.message)} />, shown: ["pid", "message"] };
    default:
      return { label: "What is done", body: null, shown: [] };
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function Source({ text, language }: { text: string; language: string }) {
  return (
    <pre>
      <Highlighted text={makeCodeVisible(text)} language={language} />
    </pre>
  );
}

function NewFile({ path, content }: { path: string; content: string }) {
  const lines = content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
  return (
    <>
      <p class="question-path">
        <code>{makeVisible(path)}</code> <span class="soft">{lines === 1 ? "1 line" : `${lines.toLocaleString("en")} lines`}</span>
      </p>
      <pre>{makeCodeVisible(content)}</pre>
    </>
  );
}

function Paths({ paths }: { paths: readonly string[] }) {
  return (
    <ul class="question-paths">
      {paths.map((path) => (
        <li key={path}>
          <code>{makeVisible(path)}</code>
        </li>
      ))}
    </ul>
  );
}

function Message({ pid, text }: { pid: string; text: string }) {
  const agent = findAgent(pid);
  return (
    <>
      <p class="question-path">To {agent === null ? "another agent" : nameOfAgent(agent, makeVisible)}</p>
      <pre>{makeVisible(text)}</pre>
    </>
  );
}

/** The arguments that are not shown otherwise, by name. An operation on a repository, for example, has all of them here. */
function Rest({ question: { args, target, syscall }, shown }: { question: PendingQuestion; shown: readonly string[] }) {
  const isMcp = syscall === "sys.mcp.call";
  const rest: Args = Object.fromEntries(
    Object.entries(args).filter(
      ([name]) => !shown.includes(name) && !(name === "target" && args.target === target && syscall !== "fs.copy"),
    ),
  );
  if (!isMcp && Object.keys(rest).length === 0) return null;
  return <pre class="question-rest">{formatBody({ call: isMcp ? syscall : "", args: rest, target, cwd: "" }, true).text}</pre>;
}

/** The diff is loaded on demand; null until then. */
function useDiff(args: Args | null): ComponentChildren {
  const [diff, setDiff] = useState<ComponentChildren>(null);
  useEffect(() => {
    if (args === null) return;
    let isCurrent = true;
    void import("../ui/text-diff.tsx").then(({ TextDiff }) => {
      const [before, after] = withoutCommonEnd(textOf(args.oldString), textOf(args.newString)).map(makeCodeVisible);
      if (isCurrent) setDiff(<TextDiff title={makeVisible(textOf(args.path))} before={before!} after={after!} />);
    });
    return () => {
      isCurrent = false;
    };
  }, [args]);
  return diff;
}

/** A line end that both texts have at their end is no line of its own. */
function withoutCommonEnd(before: string, after: string): string[] {
  const isCommon = before.endsWith("\n") && after.endsWith("\n");
  return [before, after].map((text) => (isCommon ? text.slice(0, -1) : text));
}
