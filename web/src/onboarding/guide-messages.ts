// The conversation with the guide: what was said, and how an answer fills in the form. Secrets never leave the page: a model's key
// goes into its field, everything else that looks like a secret is removed from the message. Kept for a reload.

import { signal } from "@preact/signals";
import { findModelKey, KEY_ENTERED } from "../../../src/lib/model-key.ts";
import { redact } from "../../../src/lib/redact.ts";
import { providerTitleOf } from "../models/providers.ts";
import { type Args, describeError } from "../state/call.ts";
import { applyKey, applyPatch, draft, type Draft, FIELD_OF } from "./draft.ts";
import { findProblems } from "./draft-problems.ts";
import { callSetup } from "./setup-calls.ts";
import { step, type Step, STEP_OF, TITLES } from "./steps.ts";

type WireDraft = Args<"sys.setup.assist">["draft"];
/** Where a message leads: a step, or a field of it. */
export type Target = { step: Step; field: keyof Draft | null };
type FilledField = { field: keyof Draft; words: string };
export type GuideMessage = {
  role: "user" | "assistant";
  content: string;
  filled: FilledField[];
  target: Target | null;
  isProblem?: boolean;
};

const STORAGE_KEY = "gsv.setup.guide";
const STORED_MAX = 30;
/** How many of the last messages are sent with a request. */
const MESSAGES_SENT = 8;

export const guideMessages = signal<readonly GuideMessage[]>(restoreMessages());

const FIELD_NAMES: Partial<Record<keyof Draft, string>> = {
  username: "Name",
  adminMode: "Administrator password",
  timezone: "Time zone",
  aiKind: "Model",
  provider: "Provider",
  model: "Model",
  baseUrl: "Server",
  hasDevice: "Machine",
  deviceId: "Machine name",
  expiryDays: "Days",
  password: "Password",
  again: "Password",
  adminPassword: "Administrator password",
  apiKey: "API key",
};
const VALUES: Partial<Record<keyof Draft, Readonly<Record<string, string>>>> = {
  adminMode: { same: "same as yours", custom: "a separate one" },
  aiKind: { own: "the gateway's own", provider: "AI provider", local: "your own server" },
  hasDevice: { no: "none", yes: "one" },
};

export async function sendToGuide(typed: string): Promise<void> {
  const found = findModelKey(typed);
  const content = removeSecrets(typed, found?.key ?? null);
  addMessage({ role: "user", content, filled: [], target: null });
  // Before the answer, which may then ask for the provider that the key belongs to.
  if (found !== null) applyKey(found);
  try {
    const message = await requestAnswer();
    if (found !== null) message.filled.push({ field: "apiKey", words: `${FIELD_NAMES.apiKey}: entered, hidden` });
    addMessage(message);
  } catch (error) {
    addMessage({ role: "assistant", content: describeError(error), filled: [], target: null, isProblem: true });
  }
}

/** What stands for the key must stay as it is: "my key is X" would hide X again. */
function removeSecrets(typed: string, key: string | null): string {
  const parts = key === null ? [typed] : typed.split(key);
  return parts.map((part) => redact(part, listSecrets(draft.peek()))).join(KEY_ENTERED);
}

async function requestAnswer(): Promise<GuideMessage> {
  const messages = guideMessages.peek().filter(({ isProblem }) => isProblem !== true);
  const answer = await callSetup("sys.setup.assist", {
    lane: draft.peek().lane,
    draft: toWireDraft(draft.peek()),
    messages: messages.slice(-MESSAGES_SENT).map(({ role, content }) => ({ role, content })),
  });
  const applied = answer.patches.flatMap((patch) => applyPatch(patch) ?? []);
  const names = new Set(applied.map(({ field }) => field));
  const filled = applied
    // A more precise field says the same.
    .filter(({ field }) => !(field === "aiKind" && names.has("provider")) && !(field === "hasDevice" && names.has("deviceId")))
    .map(({ field, value }) => ({ field, words: `${FIELD_NAMES[field] ?? field}: ${describeValue(field, value)}` }));
  return { role: "assistant", content: answer.message, filled, target: findTarget(answer) };
}

function describeValue(field: keyof Draft, value: string): string {
  if (field === "provider") return providerTitleOf(value);
  return VALUES[field]?.[value] ?? (value || "empty");
}

/** The review, if the person asked for it or nothing is missing; otherwise the field that is next. */
function findTarget({ focus, reviewReady }: { focus?: string | undefined; reviewReady: boolean }): Target | null {
  const isComplete = reviewReady && findProblems(draft.peek(), false).size === 0;
  if (isComplete || (reviewReady && focus === undefined)) return { step: "review", field: null };
  const field = focus === undefined ? undefined : FIELD_OF[focus];
  return field === undefined ? null : { step: STEP_OF[field], field };
}

export function describeTarget({ step: to, field }: Target): string {
  return (to === step.value && field !== null ? FIELD_NAMES[field] : undefined) ?? TITLES[to];
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

function listSecrets({ password, again, adminPassword, apiKey }: Draft): string[] {
  return [password, again, adminPassword, apiKey];
}

function addMessage(message: GuideMessage): void {
  guideMessages.value = [...guideMessages.peek(), message];
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(guideMessages.peek().slice(-STORED_MAX)));
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
    return Array.isArray(stored) ? (stored as GuideMessage[]).filter(isMessage) : [];
  } catch {
    return [];
  }
}

/** What an earlier version stored may look different. */
function isMessage({ role, content, filled, target }: GuideMessage): boolean {
  const isTarget = target === null || (typeof target === "object" && Object.hasOwn(TITLES, target.step));
  return typeof role === "string" && typeof content === "string" && Array.isArray(filled) && isTarget;
}
