// The guide: a chat next to the form that fills in fields from what the user writes. It presses no buttons. Secrets are removed
// from messages before they leave the page.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { redact } from "../../../src/lib/redact.ts";
import { type Args, describeError } from "../state/call.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { draft, type Draft, FIELD_OF, applyPatch } from "./draft.ts";
import { callSetup, gatewayModel } from "./setup-calls.ts";
import { goToStep, step, STEP_OF, TITLES } from "./steps.ts";

type WireDraft = Args<"sys.setup.assist">["draft"];
type FilledField = { field: keyof Draft; words: string };
type GuideMessage = { role: "user" | "assistant"; content: string; filled: FilledField[]; focus: keyof Draft | null; isProblem?: boolean };

const STORAGE_KEY = "gsv.setup.guide";
/** How many of the last messages are sent with a request. */
const MESSAGES_SENT = 8;
const WIDE = "(min-width: 64rem)";
const GREETING = "Tell me who you are and what you want, in your own words. I fill in the form; you look it over.";

const guideMessages = signal<readonly GuideMessage[]>(restoreMessages());

const FIELD_NAMES: Partial<Record<keyof Draft, string>> = {
  username: "Name",
  adminMode: "Administrator's password",
  timezone: "Time zone",
  aiKind: "Who answers",
  provider: "Provider",
  model: "Model",
  hasDevice: "First machine",
  deviceId: "Machine's name",
  expiryDays: "Days",
  password: "Password",
  again: "Password",
  adminPassword: "Administrator's password",
  apiKey: "Key",
};

export function Guide() {
  const [isOpen, setOpen] = useState(() => matchMedia(WIDE).matches);
  const [isOpenedByUser, setOpenedByUser] = useState(false);
  if (!isOpen)
    return (
      <div class="guide-closed">
        <Button
          icon="chat"
          onClick={() => {
            setOpenedByUser(true);
            setOpen(true);
          }}
        >
          Ask the guide
        </Button>
      </div>
    );
  return <GuidePanel takesFocus={isOpenedByUser} onClose={() => setOpen(false)} />;
}

function GuidePanel({ takesFocus, onClose }: { takesFocus: boolean; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const isDemo = gatewayModel.value?.provider === "demo";
  useLayoutEffect(() => {
    if (takesFocus) input.current?.focus();
  }, []);
  useEffect(() => log.current?.scrollTo({ top: log.current.scrollHeight }), [guideMessages.value, isBusy]);
  const send = async (event: Event) => {
    event.preventDefault();
    const content = redact(typed.trim(), secretsOf(draft.peek()));
    if (content === "" || isBusy) return;
    setTyped("");
    setBusy(true);
    addMessage({ role: "user", content, filled: [], focus: null });
    try {
      addMessage(await requestAndApplyAnswer());
    } catch (error) {
      addMessage({ role: "assistant", content: describeError(error), filled: [], focus: null, isProblem: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <aside class="guide" aria-label="Guide">
      <header class="guide-head">
        <h2>Guide</h2>
        <Badge>{isDemo ? "a script, not an AI" : (gatewayModel.value?.model ?? "")}</Badge>
        <IconButton icon="close" label="Put the guide away" onClick={onClose} />
      </header>
      {/* It scrolls, so it must be reachable by keyboard. */}
      <div class="guide-log" role="log" aria-label="What was said" tabIndex={0} ref={log}>
        <p class="guide-said guide-assistant">{GREETING}</p>
        {guideMessages.value.map((said, at) => (
          <MessageEntry key={at} said={said} />
        ))}
        {isBusy && <Spinner label="The guide is thinking" />}
      </div>
      <form class="guide-form" onSubmit={(event) => void send(event)}>
        <input
          ref={input}
          class="control"
          aria-label="Say something to the guide"
          placeholder={isDemo ? "call me ada" : "I am Ada, from Lisbon"}
          autocomplete="off"
          maxLength={1_000}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" busy={isBusy}>
          Send
        </Button>
      </form>
      <p class="soft small">Type passwords and keys into the form, not here.</p>
    </aside>
  );
}

function MessageEntry({ said: { role, content, filled, focus, isProblem } }: { said: GuideMessage }) {
  return (
    <div class={`guide-said guide-${role}`} data-problem={isProblem === true ? "yes" : undefined}>
      <p>{content}</p>
      {filled.length > 0 && (
        <ul class="guide-filled" aria-label="Filled in">
          {filled.map(({ field, words }) => (
            <li key={field}>
              <button type="button" onClick={() => goToStep(STEP_OF[field])}>
                {words}
              </button>
            </li>
          ))}
        </ul>
      )}
      {focus !== null && (
        <Button look="quiet" icon="right" onClick={() => focusField(focus)}>
          {STEP_OF[focus] === step.value ? `Go to: ${FIELD_NAMES[focus] ?? TITLES[STEP_OF[focus]]}` : `Go to: ${TITLES[STEP_OF[focus]]}`}
        </Button>
      )}
    </div>
  );
}

async function requestAndApplyAnswer(): Promise<GuideMessage> {
  const messages = guideMessages.peek().filter(({ isProblem }) => isProblem !== true);
  const answer = await callSetup("sys.setup.assist", {
    lane: draft.peek().lane,
    draft: toWireDraft(draft.peek()),
    messages: messages.slice(-MESSAGES_SENT).map(({ role, content }) => ({ role, content })),
  });
  const filled = answer.patches.flatMap((patch) => {
    const applied = applyPatch(patch);
    return applied === null
      ? []
      : [{ field: applied.field, words: `${FIELD_NAMES[applied.field] ?? applied.field}: ${applied.value || "empty"}` }];
  });
  const focus = answer.focus === undefined ? null : (FIELD_OF[answer.focus] ?? null);
  // The header of the panel already says this.
  return { role: "assistant", content: answer.message.replace(/^Demo model, not an AI: /, ""), filled, focus };
}

/** Without secrets: they leave the page only with the set-up itself. */
function toWireDraft(now: Draft): WireDraft {
  const { lane, username, adminMode, timezone, aiKind, provider, model, hasDevice, deviceId, expiryDays } = now;
  const where = step.peek();
  return {
    lane,
    mode: "guided",
    stage: where === "welcome" || where === "review" ? where : "details",
    detailStep: ({ admin: "admin", time: "system", ai: "ai", machine: "device" } as const)[where as "admin"] ?? "account",
    account: { username, password: "", passwordConfirm: "" },
    admin: { mode: adminMode, password: "" },
    system: { timezone },
    ai: { enabled: aiKind !== "own", provider, model, apiKey: "" },
    source: { enabled: false, value: "", ref: "" },
    device: { enabled: hasDevice, deviceId, label: "", expiryDays },
  };
}

function secretsOf({ password, again, adminPassword, apiKey }: Draft): string[] {
  return [password, again, adminPassword, apiKey];
}

function focusField(field: keyof Draft): void {
  goToStep(STEP_OF[field]);
  // After the step has rendered.
  setTimeout(() => document.querySelector<HTMLElement>(`.setup-main [name="${field}"]`)?.focus());
}

function addMessage(said: GuideMessage): void {
  guideMessages.value = [...guideMessages.peek(), said];
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(guideMessages.peek().slice(-30)));
  } catch {
    // Storage is disabled, such as in a private window.
  }
}

/** Set-up is complete: delete the messages. */
export function clearGuide(): void {
  guideMessages.value = [];
  sessionStorage.removeItem(STORAGE_KEY);
}

function restoreMessages(): GuideMessage[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
    return Array.isArray(stored)
      ? (stored as GuideMessage[]).filter(({ role, content }) => typeof role === "string" && typeof content === "string")
      : [];
  } catch {
    return [];
  }
}
