// The guide: a conversation that fills in the form from what the user writes. It presses no buttons. On a wide window it stands
// beside the form, on a narrow one in its place until the user goes to a step; both keep what was given.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { draft, type Draft } from "./draft.ts";
import { describeTarget, guideMessages, type GuideMessage, sendToGuide, type Target } from "./guide-messages.ts";
import { gatewayModel } from "./setup-calls.ts";
import { goToStep, step, STEP_OF } from "./steps.ts";

const WIDE = "(min-width: 64rem)";
const GREETING = "Write in your own words and I fill in the form. You review everything before it is applied.";
const SUGGESTIONS = ["What is this?", "Is it safe?", "What does it cost?", "What can agents do without asking?"];

const isOpen = signal(matchMedia(WIDE).matches);

export function Guide() {
  const [isOpenedByUser, setOpenedByUser] = useState(false);
  const current = step.value;
  const previous = useRef(current);
  // On a narrow window the form takes the guide's place.
  useLayoutEffect(() => {
    if (previous.current !== current) closeIfNarrow();
    previous.current = current;
  }, [current]);
  if (isOpen.value) return <GuidePanel takesFocus={isOpenedByUser} />;
  const open = () => {
    setOpenedByUser(true);
    isOpen.value = true;
  };
  return (
    <div class="guide-closed">
      <Button icon="chat" onClick={open}>
        Ask the guide
      </Button>
    </div>
  );
}

function GuidePanel({ takesFocus }: { takesFocus: boolean }) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const own = gatewayModel.value;
  const messages = guideMessages.value;
  useLayoutEffect(() => {
    if (takesFocus) input.current?.focus();
  }, []);
  useEffect(() => log.current?.scrollTo({ top: log.current.scrollHeight }), [messages, isBusy]);
  const send = async (text: string) => {
    if (text.trim() === "" || isBusy) return;
    setBusy(true);
    await sendToGuide(text.trim());
    setBusy(false);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setTyped("");
    void send(typed);
  };
  return (
    <aside class="guide" aria-label="Guide">
      <header class="guide-head">
        <h2>Guide</h2>
        <Badge>{own === null || own.provider === "demo" ? "not an AI" : makeVisible(own.model)}</Badge>
        <IconButton icon="close" label="Close the guide" onClick={() => (isOpen.value = false)} />
      </header>
      {/* It scrolls, so it must be reachable by keyboard. */}
      <div class="guide-log" role="log" aria-label="Conversation" tabIndex={0} ref={log}>
        <p class="guide-said guide-assistant">{draft.value.username === "" ? `${GREETING} What should I call you?` : GREETING}</p>
        {messages.map((message, at) => (
          <MessageEntry key={at} message={message} isLast={at === messages.length - 1} />
        ))}
        {!isBusy && <Suggestions messages={messages} onChoose={(text) => void send(text)} />}
        {isBusy && <Spinner label="Waiting for the guide" />}
      </div>
      <form class="guide-form" onSubmit={submit}>
        <input
          ref={input}
          class="control"
          aria-label="Message to the guide"
          placeholder="I am Ada, from Lisbon"
          autocomplete="off"
          maxLength={1_000}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" busy={isBusy}>
          Send
        </Button>
      </form>
      <p class="soft small">Enter passwords in the form, not here.</p>
    </aside>
  );
}

type SuggestionsProps = { messages: readonly GuideMessage[]; onChoose: (text: string) => void };

/** The questions that are left, as long as the user has written nothing else. */
function Suggestions({ messages, onChoose }: SuggestionsProps) {
  const asked = messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const left = SUGGESTIONS.filter((text) => !asked.includes(text));
  if (left.length === 0 || asked.some((text) => !SUGGESTIONS.includes(text))) return null;
  return (
    <ul class="guide-filled" aria-label="Questions">
      {left.map((text) => (
        <li key={text}>
          <button type="button" onClick={() => onChoose(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  );
}

function MessageEntry({ message: { role, content, filled, target, isProblem }, isLast }: { message: GuideMessage; isLast: boolean }) {
  return (
    <div class={`guide-said guide-${role}`} data-problem={isProblem === true ? "yes" : undefined}>
      <p>{role === "user" ? content : makeVisible(content)}</p>
      {filled.length > 0 && (
        <ul class="guide-filled" aria-label="Filled in">
          {filled.map(({ field, words }) => (
            <li key={field}>
              <button type="button" onClick={() => goToTarget({ step: STEP_OF[field], field })}>
                {makeVisible(words)}
              </button>
            </li>
          ))}
        </ul>
      )}
      {isLast && target !== null && (
        <Button look="quiet" icon="right" onClick={() => goToTarget(target)}>
          {`Go to: ${describeTarget(target)}`}
        </Button>
      )}
    </div>
  );
}

function goToTarget({ step: to, field }: Target): void {
  goToStep(to);
  closeIfNarrow();
  if (field !== null) setTimeout(() => focusField(field));
}

/** After the step has rendered. A choice has no field of that name: its first option takes the focus. */
function focusField(field: keyof Draft): void {
  const main = document.querySelector(".setup-main");
  const control =
    main?.querySelector<HTMLElement>(`[name="${field}"]`) ??
    main?.querySelector<HTMLElement>("form input:checked, form input, form select");
  control?.focus();
}

function closeIfNarrow(): void {
  if (!matchMedia(WIDE).matches) isOpen.value = false;
}
