// What keeps a step from being done, by field, in words that say what to write there. The gateway judges again.

import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { NAME } from "../../../src/lib/name.ts";
import { isTimezone } from "../../../src/lib/timezone.ts";
import { type Draft, refused } from "./draft.ts";
import { needsKey } from "./providers.ts";
import { STEP_OF, type Step } from "./steps.ts";

export type Problems = ReadonlyMap<keyof Draft, string>;

const PASSWORD_CHARS = 8;
const PASSWORD_BYTES = 256;
const DAYS_MAX = 3_650;

/** `isShown`: the person sees what they type, so they need not type it twice. */
export function problemsOf(draft: Draft, isShown: boolean): Problems {
  const found = new Map<keyof Draft, string>();
  const say = (field: keyof Draft, words: string | null) => {
    if (words !== null) found.set(field, words);
  };
  say("username", nameProblem(draft.username));
  say("password", passwordProblem(draft.password));
  if (!isShown && draft.password !== draft.again) say("again", "The two are not the same. Type it once more, or show it.");
  if (draft.adminMode === "custom") say("adminPassword", passwordProblem(draft.adminPassword));
  if (!isTimezone(draft.timezone)) say("timezone", "Choose a place from the list.");
  if (draft.aiKind !== "own") aiProblems(draft, say);
  if (draft.hasDevice) {
    say("deviceId", /^[\w.-]{1,64}$/.test(draft.deviceId) ? null : "A short name without blanks, such as laptop.");
    say("expiryDays", isDays(draft.expiryDays) ? null : `A number of days from 1 to ${DAYS_MAX}, or empty for no end.`);
  }
  for (const [field, words] of refused.value) found.set(field as keyof Draft, words);
  return found;
}

export function problemsIn(step: Step, problems: Problems): [keyof Draft, string][] {
  return [...problems].filter(([field]) => STEP_OF[field] === step);
}

function nameProblem(name: string): string | null {
  if (name === "") return "Choose a name for yourself.";
  if (name === "root") return "root is the administrator. Choose a name for yourself.";
  return NAME.test(name) ? null : "Up to 32 lower-case letters, digits, _ or -, beginning with a letter.";
}

function passwordProblem(password: string): string | null {
  if (password === "") return "Type a password.";
  if (password.trim().length < PASSWORD_CHARS) return `At least ${PASSWORD_CHARS} characters.`;
  return new TextEncoder().encode(password).length > PASSWORD_BYTES ? "That is too long to be kept. Make it shorter." : null;
}

function aiProblems({ aiKind, provider, model, apiKey, baseUrl }: Draft, say: (field: keyof Draft, words: string | null) => void): void {
  if (provider === "") return say("provider", aiKind === "local" ? "Look for a server, or write its address below." : "Choose a provider.");
  if (needsKey(provider) && apiKey === "") say("apiKey", "Paste the key from your account there.");
  if (provider === "openai-compatible" && !isHttpUrl(baseUrl)) say("baseUrl", "Write the whole address, such as http://127.0.0.1:8080/v1.");
  if (model === "") say("model", "Check first: it lists what there is to choose from.");
}

function isDays(text: string): boolean {
  return text === "" || (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX);
}
