// The guide: a chat beside the form, for whoever would rather say it than look for it. What it proposes is laid into the form
// and shown here; it presses no button. Secrets are taken out of what is said before it leaves the page.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { redact } from "../../../src/lib/redact.ts";
import { type Args, describeError } from "../state/call.ts";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Spinner } from "../ui/spinner.tsx";
import { draft, type Draft, FIELD_OF, propose } from "./draft.ts";
import { ask, own } from "./gateway.ts";
import { goTo, step, STEP_OF, TITLES } from "./steps.ts";

type WireDraft = Args<"sys.setup.assist">["draft"];
type Filling = { field: keyof Draft; words: string };
type Said = { role: "user" | "assistant"; content: string; filled: Filling[]; focus: keyof Draft | null; isProblem?: boolean };

const KEY = "gsv.setup.guide";
/** As much of the talk as is sent along. */
const TALK = 8;
const WIDE = "(min-width: 64rem)";
const GREETING = "Tell me who you are and what you want, in your own words. I fill in the form; you look it over.";

const talk = signal<readonly Said[]>(restored());

const NAMES: Partial<Record<keyof Draft, string>> = {
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
  const [isHere, setHere] = useState(false);
  if (!isOpen)
    return (
      <div class="guide-closed">
        <Button
          icon="chat"
          onClick={() => {
            setHere(true);
            setOpen(true);
          }}
        >
          Ask the guide
        </Button>
      </div>
    );
  return <Talk isAsked={isHere} onClose={() => setOpen(false)} />;
}

function Talk({ isAsked, onClose }: { isAsked: boolean; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const log = useRef<HTMLDivElement>(null);
  const isDemo = own.value?.provider === "demo";
  useLayoutEffect(() => {
    if (isAsked) input.current?.focus();
  }, []);
  useEffect(() => log.current?.scrollTo({ top: log.current.scrollHeight }), [talk.value, busy]);
  const send = async (event: Event) => {
    event.preventDefault();
    const content = redact(typed.trim(), secretsOf(draft.peek()));
    if (content === "" || busy) return;
    setTyped("");
    setBusy(true);
    say({ role: "user", content, filled: [], focus: null });
    try {
      say(await answerTo());
    } catch (error) {
      say({ role: "assistant", content: describeError(error), filled: [], focus: null, isProblem: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <aside class="guide" aria-label="Guide">
      <header class="guide-head">
        <h2>Guide</h2>
        <Badge>{isDemo ? "a script, not an AI" : (own.value?.model ?? "")}</Badge>
        <IconButton icon="close" label="Put the guide away" onClick={onClose} />
      </header>
      {/* It scrolls, so it can be reached by keyboard. */}
      <div class="guide-log" role="log" aria-label="What was said" tabIndex={0} ref={log}>
        <p class="guide-said guide-assistant">{GREETING}</p>
        {talk.value.map((said, at) => (
          <One key={at} said={said} />
        ))}
        {busy && <Spinner label="The guide is thinking" />}
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
        <Button type="submit" busy={busy}>
          Send
        </Button>
      </form>
      <p class="soft small">Type passwords and keys into the form, not here.</p>
    </aside>
  );
}

function One({ said: { role, content, filled, focus, isProblem } }: { said: Said }) {
  return (
    <div class={`guide-said guide-${role}`} data-problem={isProblem === true ? "yes" : undefined}>
      <p>{content}</p>
      {filled.length > 0 && (
        <ul class="guide-filled" aria-label="Filled in">
          {filled.map(({ field, words }) => (
            <li key={field}>
              <button type="button" onClick={() => goTo(STEP_OF[field])}>
                {words}
              </button>
            </li>
          ))}
        </ul>
      )}
      {focus !== null && (
        <Button look="quiet" icon="right" onClick={() => show(focus)}>
          {STEP_OF[focus] === step.value ? `Go to: ${NAMES[focus] ?? TITLES[STEP_OF[focus]]}` : `Go to: ${TITLES[STEP_OF[focus]]}`}
        </Button>
      )}
    </div>
  );
}

async function answerTo(): Promise<Said> {
  const messages = talk.peek().filter(({ isProblem }) => isProblem !== true);
  const answer = await ask("sys.setup.assist", {
    lane: draft.peek().lane,
    draft: wireDraft(draft.peek()),
    messages: messages.slice(-TALK).map(({ role, content }) => ({ role, content })),
  });
  const filled = answer.patches.flatMap((patch) => {
    const laid = propose(patch);
    return laid === null ? [] : [{ field: laid.field, words: `${NAMES[laid.field] ?? laid.field}: ${laid.value || "empty"}` }];
  });
  const focus = answer.focus === undefined ? null : (FIELD_OF[answer.focus] ?? null);
  // The head of this panel says it already.
  return { role: "assistant", content: answer.message.replace(/^Demo model, not an AI: /, ""), filled, focus };
}

/** Without a secret: they do not leave the page before everything is set. */
function wireDraft(now: Draft): WireDraft {
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

function show(field: keyof Draft): void {
  goTo(STEP_OF[field]);
  // After the step is there.
  setTimeout(() => document.querySelector<HTMLElement>(`.setup-main [name="${field}"]`)?.focus());
}

function say(said: Said): void {
  talk.value = [...talk.peek(), said];
  try {
    sessionStorage.setItem(KEY, JSON.stringify(talk.peek().slice(-30)));
  } catch {
    // A private window without storage.
  }
}

/** Set-up is over. */
export function forgetTalk(): void {
  talk.value = [];
  sessionStorage.removeItem(KEY);
}

function restored(): Said[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept)
      ? (kept as Said[]).filter(({ role, content }) => typeof role === "string" && typeof content === "string")
      : [];
  } catch {
    return [];
  }
}
