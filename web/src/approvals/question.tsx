// A question of an agent, above the message field of its conversation and on the Approvals screen: what will happen, in words and exactly,
// and the answers. Nothing takes the focus automatically, only a fresh press answers (fresh-press.ts), a key only if it is pressed alone
// (lone-press.ts) and never for what is grave (grave.ts), and nothing is allowed that was not in view (use-seen.ts).

import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { workingDirectoryOf } from "../../../src/approval/asked-call.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isScriptCallId } from "../../../src/sandbox/script-calls.ts";
import { registerActions } from "../frame/actions.ts";
import { KeyCaps } from "../frame/key-caps.tsx";
import { Link } from "../frame/link.tsx";
import { PaneContext } from "../frame/pane-context.ts";
import { activePane, joinPath } from "../frame/route.ts";
import type { PendingQuestion } from "../state/approvals.ts";
import { type Args, call, describeError } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { joinClasses } from "../ui/classes.ts";
import { Icon } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import { formatUntil } from "../ui/format-time.ts";
import { DenyForm } from "./deny-form.tsx";
import { useFreshPress } from "./fresh-press.ts";
import { GrantForm } from "./grant-form.tsx";
import { isGrave } from "./grave.ts";
import { type LonePress, useLonePress } from "./lone-press.ts";
import { QuestionContent } from "./question-content.tsx";
import { QuestionDetails } from "./question-details.tsx";
import { useWhollyInView } from "./use-seen.ts";
import "./question.css";

export type QuestionAnswer = Omit<Args<"proc.hil">, "pid" | "requestId">;

type QuestionProps = {
  question: PendingQuestion;
  /** The purpose of the script whose call this is, if it is known. */
  scriptSays?: string | undefined;
  /** It stands above the message field of its own conversation, and must leave room for it. */
  isPinned?: boolean;
  /** Whether the keys y, a and n answer it, while it is in view. */
  hasKeys?: boolean;
  onAnswered: () => void;
};

/** `onAnswered` is called after every attempt, also a failed one: the question may be gone. */
export function Question({ question, scriptSays = "", isPinned = false, hasKeys = true, onAnswered }: QuestionProps) {
  const [mode, setMode] = useState<"plain" | "remember" | "deny">("plain");
  const [isBusy, setBusy] = useState(false);
  const [isSeen, setSeen] = useState(question.kind === "budget");
  const [problem, setProblem] = useState<string | null>(null);
  const freshPress = useFreshPress();
  const card = useRef<HTMLElement>(null);
  const id = useId();
  const isCall = question.kind === "call";
  const isDangerous = isGrave(question);
  const sendAnswer = async (given: QuestionAnswer) => {
    setBusy(true);
    setProblem(null);
    try {
      const { grant } = await call("proc.hil", { pid: question.pid, requestId: question.requestId, ...given });
      if (grant !== undefined) showNotice(`${grant.says.replaceAll("`", "")} until ${formatUntil(grant.expiresAt)}`, "good");
      onAnswered();
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
      onAnswered();
    }
  };
  const allow = () => void sendAnswer({ decision: "approve" });
  const deny = () => void sendAnswer({ decision: "deny" });
  const isReady = freshPress.isReady && !isBusy;
  const answers = [
    { key: "y", isOn: isReady && isSeen, run: allow },
    { key: "a", isOn: isReady && isSeen && isCall, run: () => setMode("remember") },
    { key: "n", isOn: isReady, run: deny },
  ];
  const keys = KEYS.filter(({ key }) => key === "n" || (!isDangerous && (key === "y" || isCall)));
  const find = (key: string) => answers.find((one) => one.key === key && one.isOn);
  const { areOn, isQuiet } = useKeys(hasKeys && mode === "plain", keys, card, (key, event, runIfAlone) => {
    if (event === undefined) return card.current?.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
    if (find(key) !== undefined && freshPress.isFreshKey(event)) runIfAlone(() => latest.current(key)?.run());
  });
  /** Leaves a form for the button that opened it. */
  const [focusedKey, setFocusedKey] = useState<string | null>(null);
  const goBack = () => {
    setFocusedKey(mode === "remember" ? "a" : "n");
    setMode("plain");
  };
  useLayoutEffect(() => {
    if (mode === "plain" && focusedKey !== null) card.current?.querySelector<HTMLElement>(`[data-key="${focusedKey}"]`)?.focus();
  }, [mode, focusedKey]);
  // A key answers a moment after it was pressed, and the question may have changed by then.
  const latest = useRef(find);
  latest.current = find;
  return (
    <section
      class={joinClasses("question", isPinned && "question-pinned", isDangerous && "question-dangerous")}
      aria-labelledby={id}
      ref={card}
      {...freshPress.pressHandlers}
      data-ready={freshPress.isReady}
      data-keys={isQuiet}
    >
      <header class="question-head">
        {isDangerous && <Icon name="warning" />}
        <h3 id={id}>{question.title}?</h3>
        <span class="question-when">
          expires <Time at={question.expiresAt} />
        </span>
      </header>
      <div class="question-body">
        {isCall ? <QuestionContent question={question} onSeen={() => setSeen(true)} /> : <p>{makeVisible(question.why)}</p>}
        {mode === "plain" && (
          <>
            <Facts question={question} scriptSays={scriptSays} isPinned={isPinned} />
            <div class="question-why">
              {isCall && <p>{question.explanation}</p>}
              <div class="question-further">
                {isCall && <QuestionDetails question={question} />}
                <Button look="quiet" disabled={!isReady} onClick={freshPress.guard(() => setMode("deny"))}>
                  Deny with a reason…
                </Button>
              </div>
            </div>
          </>
        )}
        {problem !== null && <Banner tone="bad">{problem}</Banner>}
        {mode === "remember" && (
          <GrantForm
            question={question}
            freshPress={freshPress}
            isBusy={isBusy}
            onCancel={goBack}
            onAllow={(given) => void sendAnswer(given)}
          />
        )}
        {mode === "deny" && (
          <DenyForm freshPress={freshPress} isBusy={isBusy} onCancel={goBack} onDeny={(given) => void sendAnswer(given)} />
        )}
      </div>
      <footer class="question-answers">
        {mode === "plain" && (
          <>
            <Button
              look={isDangerous ? "danger" : "primary"}
              data-key="y"
              disabled={!freshPress.isReady || !isSeen}
              busy={isBusy}
              onClick={freshPress.guard(allow)}
            >
              {isCall ? "Allow" : "Allow as much again"}
            </Button>
            {isCall && (
              <Button data-key="a" disabled={!isReady || !isSeen} onClick={freshPress.guard(() => setMode("remember"))}>
                Always allow…
              </Button>
            )}
            <Button data-key="n" disabled={!isReady} onClick={freshPress.guard(deny)}>
              Deny
            </Button>
            {areOn && <KeyHints keys={keys} />}
          </>
        )}
      </footer>
    </section>
  );
}

/** Where it happens and who asks. */
function Facts({ question, scriptSays, isPinned }: { question: PendingQuestion; scriptSays: string; isPinned: boolean }) {
  const { pid, conversationId, callId, kind, askedBy } = question;
  const directory = kind === "call" ? workingDirectoryOf(question) : null;
  return (
    <p class="question-where">
      {directory !== null && (
        <span>
          in <code>{directory}</code>
        </span>
      )}
      {isScriptCallId(callId) && (
        <span>asked by {scriptSays === "" ? "a script of the agent" : <>the script “{makeVisible(shortenPurpose(scriptSays))}”</>}</span>
      )}
      {!isPinned && (
        <span>
          asked by {askedBy.agent} · <Link to={joinPath("chat", pid, conversationId)}>open</Link>
        </span>
      )}
      {askedBy.schedule !== null && (
        <span>
          started by the schedule <Link to={joinPath("schedules", askedBy.schedule.id)}>{askedBy.schedule.name}</Link>
        </span>
      )}
    </p>
  );
}

const PURPOSE_CHARS = 120;

function shortenPurpose(purpose: string): string {
  return purpose.length <= PURPOSE_CHARS ? purpose : `${purpose.slice(0, PURPOSE_CHARS)}…`;
}

const KEYS = [
  { key: "y", word: "allow", title: "Allow what an agent asks" },
  { key: "a", word: "always", title: "Always allow what an agent asks…" },
  { key: "n", word: "deny", title: "Deny what an agent asks" },
];

/** After the buttons, which must not move when the hints come and go. */
function KeyHints({ keys }: { keys: typeof KEYS }) {
  return (
    <span class="question-keys">
      {keys.map(({ key, word }) => (
        <span key={key}>
          <KeyCaps keys={key} /> {word}
        </span>
      ))}
    </span>
  );
}

type KeyRun = (key: string, event: KeyboardEvent | undefined, runIfAlone: LonePress["runIfAlone"]) => void;

/**
 * Registers the keys while the card is wanted and wholly in view, and in the pane that keys act on. Returns whether they act, and
 * whether one that is pressed now counts. Without an event, an action was chosen from a list.
 */
function useKeys(isWanted: boolean, keys: typeof KEYS, card: { readonly current: Element | null }, run: KeyRun) {
  const pane = useContext(PaneContext);
  const isInView = useWhollyInView(card);
  const areOn = isWanted && isInView && (pane === null || activePane.value === pane);
  const { isQuiet, runIfAlone } = useLonePress(areOn);
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!areOn) return;
    return registerActions(
      keys.map(({ key, title }) => ({
        id: `question.${key}`,
        title,
        group: "Question",
        keys: key,
        run: (event) => latest.current(key, event, runIfAlone),
      })),
    );
  }, [areOn]);
  return { areOn, isQuiet };
}
