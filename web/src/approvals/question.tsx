// A question of an agent, in chat and on the approvals screen: exactly what will run and where, why approval is required, and the
// answers. Nothing takes the focus automatically, and only a fresh press answers (fresh-press.ts).

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isTag, TAGS } from "../../../src/approval/request.ts";
import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isMcpTool, isScriptTool, nameOfAction } from "../../../src/client/client.ts";
import { isScriptCallId } from "../../../src/sandbox/script-calls.ts";
import { Highlighted } from "../markdown/highlighted.tsx";
import type { PendingQuestion } from "../state/approvals.ts";
import { type Args, call, describeError } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { TextInput } from "../ui/field.tsx";
import { Time } from "../ui/time.tsx";
import { type FreshPress, useFreshPress } from "./fresh-press.ts";
import { GrantForm } from "./grant-form.tsx";
import "./question.css";

export type QuestionAnswer = Omit<Args<"proc.hil">, "pid" | "requestId">;

/** `scriptSays`: the purpose of the script whose call this is, if it is known. */
type QuestionProps = { question: PendingQuestion; scriptSays?: string | undefined; onAnswered: () => void };

/** `onAnswered` is called after every attempt, also a failed one: the question may be gone. */
export function Question({ question, scriptSays = "", onAnswered }: QuestionProps) {
  const [mode, setMode] = useState<"plain" | "remember" | "deny">("plain");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const freshPress = useFreshPress();
  const id = useId();
  const sendAnswer = async (given: QuestionAnswer) => {
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
    <section class="question" aria-labelledby={id} {...freshPress.pressHandlers} data-ready={freshPress.isReady}>
      <header class="question-head">
        <Icon name="approval" />
        <h3 id={id}>{questionTitle(question)}</h3>
        <span class="question-when">
          ends <Time at={question.expiresAt} />
        </span>
      </header>
      {isScript(question) ? <ScriptText code={question.args.code} /> : <QuestionText question={question} />}
      {question.kind === "call" && <Facts question={question} scriptSays={scriptSays} />}
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {mode === "remember" ? (
        <GrantForm
          syscall={question.syscall}
          freshPress={freshPress}
          isBusy={isBusy}
          onCancel={() => setMode("plain")}
          onAllow={(given) => void sendAnswer(given)}
        />
      ) : mode === "deny" ? (
        <DenyForm freshPress={freshPress} isBusy={isBusy} onCancel={() => setMode("plain")} onDeny={(given) => void sendAnswer(given)} />
      ) : (
        <div class="question-answers">
          <Button
            look="primary"
            disabled={!freshPress.isReady}
            busy={isBusy}
            onClick={freshPress.guard(() => void sendAnswer({ decision: "approve" }))}
          >
            {question.kind === "budget" ? "Allow as much again" : "Allow once"}
          </Button>
          {question.kind === "call" && (
            <Button disabled={!freshPress.isReady || isBusy} onClick={freshPress.guard(() => setMode("remember"))}>
              Allow for a day…
            </Button>
          )}
          <Button disabled={!freshPress.isReady || isBusy} onClick={freshPress.guard(() => setMode("deny"))}>
            Deny…
          </Button>
        </div>
      )}
    </section>
  );
}

function questionTitle(question: PendingQuestion): string {
  if (question.kind === "budget") return "The budget is used up. Go on?";
  if (isScript(question)) return "Allow this script?";
  return `Allow ${makeVisible(nameOfAction(question))}?`;
}

/** Anything but its source in the arguments would have to be shown, too. */
function isScript({ toolName, args }: PendingQuestion): boolean {
  return isScriptTool(toolName) && typeof args.code === "string" && Object.keys(args).length === 1;
}

/** All of a script, however long: what is left out could do anything. */
function ScriptText({ code }: { code: unknown }) {
  return (
    <>
      <pre class="question-what question-code" tabIndex={0} role="group" aria-label="What will run" dir="ltr">
        <Highlighted text={makeCodeVisible(String(code))} language="js" />
      </pre>
      <p class="small">Each file or command that it uses is judged separately.</p>
    </>
  );
}

/** What will run. If the text was shortened, a button shows all of it: nobody should have to approve what they cannot see. */
function QuestionText({ question }: { question: PendingQuestion }) {
  const [wholeText, setWholeText] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setWholeText(null), [question.requestId]);
  const showAll = async () => {
    try {
      const { pending } = await call("proc.approval.list", { pid: question.pid, whole: true });
      setWholeText(pending.find(({ requestId }) => requestId === question.requestId)?.shown.text ?? question.shown.text);
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const isShortened = !question.shown.isWhole && wholeText === null;
  return (
    <>
      <pre class="question-what" tabIndex={0} role="group" aria-label="What will run" dir="ltr">
        {wholeText ?? question.shown.text}
      </pre>
      {isShortened && (
        <Banner tone="warn" actions={<Button onClick={() => void showAll()}>Show all of it</Button>}>
          {problem ?? "Some of it is left out here. Look at all of it before you allow it."}
        </Banner>
      )}
    </>
  );
}

function Facts({ question: { toolName, callId, target, cwd, why, tags }, scriptSays }: { question: PendingQuestion; scriptSays: string }) {
  // Its title says where, and no directory or command plays a part.
  if (isMcpTool(toolName))
    return (
      <dl class="question-facts">
        <AskedByScript callId={callId} scriptSays={scriptSays} />
        <dt>Why asked</dt>
        <dd>It uses another service as you, and may change something there.</dd>
      </dl>
    );
  return (
    <dl class="question-facts">
      <AskedByScript callId={callId} scriptSays={scriptSays} />
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

function AskedByScript({ callId, scriptSays }: { callId: string; scriptSays: string }) {
  if (!isScriptCallId(callId)) return null;
  return (
    <>
      <dt>Asked by</dt>
      <dd>{scriptSays === "" ? "A script of the agent" : <>The script “{makeVisible(shortenPurpose(scriptSays))}”</>}</dd>
    </>
  );
}

const PURPOSE_CHARS = 120;

function shortenPurpose(purpose: string): string {
  return purpose.length <= PURPOSE_CHARS ? purpose : `${purpose.slice(0, PURPOSE_CHARS)}…`;
}

type DenyProps = { freshPress: FreshPress; isBusy: boolean; onCancel: () => void; onDeny: (answer: QuestionAnswer) => void };

function DenyForm({ freshPress, isBusy, onCancel, onDeny }: DenyProps) {
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
        <Button look="danger" busy={isBusy} onClick={freshPress.guard(deny)}>
          Deny
        </Button>
        <Button look="quiet" disabled={isBusy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
