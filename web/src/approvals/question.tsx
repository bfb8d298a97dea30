// A question of an agent, wherever it is shown: exactly what will run and where, why it is asked, and the answers. Nothing
// has the focus by itself, and only a fresh press answers (fresh-press.ts).

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isTag, TAGS } from "../../../src/approval/request.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import { type Args, call, describeError } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { TextInput } from "../ui/field.tsx";
import { Time } from "../ui/time.tsx";
import { type FreshPress, useFreshPress } from "./fresh-press.ts";
import { RememberForm } from "./remember.tsx";
import "./question.css";

export type QuestionAnswer = Omit<Args<"proc.hil">, "pid" | "requestId">;

/** `onAnswered` when the gateway has the answer, or says that there is nothing to answer any more. */
export function Question({ question, onAnswered }: { question: PendingQuestion; onAnswered: () => void }) {
  const [mode, setMode] = useState<"plain" | "remember" | "deny">("plain");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const fresh = useFreshPress();
  const id = useId();
  const answer = async (given: QuestionAnswer) => {
    setBusy(true);
    setProblem(null);
    try {
      const { grant } = await call("proc.hil", { pid: question.pid, requestId: question.requestId, ...given });
      if (grant !== undefined) showNotice(`Remembered: ${grant.says}`, "good");
      onAnswered();
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
      onAnswered();
    }
  };
  return (
    <section class="question" aria-labelledby={id} {...fresh.watch} data-ready={fresh.isReady}>
      <header class="question-head">
        <Icon name="approval" />
        <h3 id={id}>{titleOf(question)}</h3>
        <span class="question-when">
          ends <Time at={question.expiresAt} />
        </span>
      </header>
      <What question={question} />
      {question.kind === "call" && <Facts question={question} />}
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {mode === "remember" ? (
        <RememberForm
          syscall={question.syscall}
          fresh={fresh}
          isBusy={isBusy}
          onCancel={() => setMode("plain")}
          onAllow={(given) => void answer(given)}
        />
      ) : mode === "deny" ? (
        <DenyForm fresh={fresh} isBusy={isBusy} onCancel={() => setMode("plain")} onDeny={(given) => void answer(given)} />
      ) : (
        <div class="question-answers">
          <Button
            look="primary"
            disabled={!fresh.isReady}
            busy={isBusy}
            onClick={fresh.pressed(() => void answer({ decision: "approve" }))}
          >
            {question.kind === "budget" ? "Allow as much again" : "Allow once"}
          </Button>
          {question.kind === "call" && (
            <Button disabled={!fresh.isReady || isBusy} onClick={fresh.pressed(() => setMode("remember"))}>
              Allow for a day…
            </Button>
          )}
          <Button disabled={!fresh.isReady || isBusy} onClick={fresh.pressed(() => setMode("deny"))}>
            Deny…
          </Button>
        </div>
      )}
    </section>
  );
}

function titleOf({ kind, toolName, target }: PendingQuestion): string {
  if (kind === "budget") return "The budget is used up. Go on?";
  return `Allow ${makeVisible(toolName)} on ${target === "gsv" ? "the gateway" : makeVisible(target)}?`;
}

/** All of it where it was shortened: nobody should have to allow what they cannot see. */
function What({ question }: { question: PendingQuestion }) {
  const [whole, setWhole] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setWhole(null), [question.requestId]);
  const showAll = async () => {
    try {
      const { pending } = await call("proc.approval.list", { pid: question.pid, whole: true });
      setWhole(pending.find(({ requestId }) => requestId === question.requestId)?.shown.text ?? question.shown.text);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const isCut = !question.shown.isWhole && whole === null;
  return (
    <>
      <pre class="question-what" tabIndex={0} role="group" aria-label="What will run" dir="ltr">
        {whole ?? question.shown.text}
      </pre>
      {isCut && (
        <Banner tone="warn" actions={<Button onClick={() => void showAll()}>Show all of it</Button>}>
          {problem ?? "Some of it is left out here. Look at all of it before you allow it."}
        </Banner>
      )}
    </>
  );
}

function Facts({ question: { target, cwd, why, tags } }: { question: PendingQuestion }) {
  return (
    <dl class="question-facts">
      <dt>Where</dt>
      <dd>{target === "gsv" ? "the gateway" : makeVisible(target)}</dd>
      <dt>Directory</dt>
      <dd>
        <code>{makeVisible(cwd)}</code>
      </dd>
      <dt>Why asked</dt>
      <dd>{makeVisible(why)}</dd>
      {tags.length > 0 && (
        <>
          <dt>Because</dt>
          <dd>
            <ul>
              {tags.map((tag) => (
                <li key={tag}>{isTag(tag) ? TAGS[tag] : makeVisible(tag)}</li>
              ))}
            </ul>
          </dd>
        </>
      )}
    </dl>
  );
}

type DenyProps = { fresh: FreshPress; isBusy: boolean; onCancel: () => void; onDeny: (answer: QuestionAnswer) => void };

function DenyForm({ fresh, isBusy, onCancel, onDeny }: DenyProps) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const deny = () => onDeny({ decision: "deny", ...(reason.trim() === "" ? {} : { reason: reason.trim() }) });
  return (
    <form
      class="question-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) deny();
      }}
    >
      <TextInput
        label="Reason, for the agent"
        hint="It is told and can try another way. May be left empty."
        value={reason}
        onValue={setReason}
        maxLength={1000}
        inputRef={field}
      />
      <div class="question-answers">
        <Button look="danger" busy={isBusy} onClick={fresh.pressed(deny)}>
          Deny
        </Button>
        <Button look="quiet" disabled={isBusy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
