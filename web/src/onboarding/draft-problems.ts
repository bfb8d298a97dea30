// Validates the draft: errors by field, which say what to enter. The gateway validates again.

import { isHttpUrl } from "../../../src/lib/http-url.ts";
import { NAME } from "../../../src/lib/name.ts";
import { isTimezone } from "../../../src/lib/timezone.ts";
import { type Draft, rejectedFields } from "./draft.ts";
import { needsKey } from "../models/providers.ts";
import { STEP_OF, type Step } from "./steps.ts";

export type Problems = ReadonlyMap<keyof Draft, string>;

const PASSWORD_CHARS = 8;
const PASSWORD_BYTES = 256;
const DAYS_MAX = 3_650;

/** If the password is visible, it need not be typed twice. */
export function findProblems(draft: Draft, isPasswordVisible: boolean): Problems {
  const problems = new Map<keyof Draft, string>();
  const report = (field: keyof Draft, words: string | null) => {
    if (words !== null) problems.set(field, words);
  };
  report("username", nameProblem(draft.username));
  report("password", passwordProblem(draft.password));
  if (!isPasswordVisible && draft.password !== draft.again) report("again", "The passwords differ. Enter it again, or show it.");
  if (draft.adminMode === "custom") report("adminPassword", passwordProblem(draft.adminPassword));
  if (!isTimezone(draft.timezone)) report("timezone", "Choose a city from the list.");
  if (draft.aiKind !== "own") reportAiProblems(draft, report);
  if (draft.hasDevice) {
    report("deviceId", /^[\w.-]{1,64}$/.test(draft.deviceId) ? null : "Use letters, digits, . _ or -, without spaces, such as laptop.");
    report("expiryDays", isValidDays(draft.expiryDays) ? null : `Enter a number from 1 to ${DAYS_MAX}, or leave it blank.`);
  }
  for (const [field, words] of rejectedFields.value) problems.set(field as keyof Draft, words);
  return problems;
}

export function problemsOfStep(step: Step, problems: Problems): [keyof Draft, string][] {
  return [...problems].filter(([field]) => STEP_OF[field] === step);
}

function nameProblem(name: string): string | null {
  if (name === "") return "Enter a name.";
  if (name === "root") return "root is the administrator. Enter another name.";
  return NAME.test(name) ? null : "Use up to 32 lower-case letters, digits, _ or -, starting with a letter.";
}

function passwordProblem(password: string): string | null {
  if (password === "") return "Enter a password.";
  if (password.trim().length < PASSWORD_CHARS) return `Use at least ${PASSWORD_CHARS} characters.`;
  return new TextEncoder().encode(password).length > PASSWORD_BYTES ? "This is too long. Use at most 256 bytes." : null;
}

function reportAiProblems(
  { aiKind, provider, model, apiKey, baseUrl }: Draft,
  say: (field: keyof Draft, words: string | null) => void,
): void {
  if (provider === "") return say("provider", aiKind === "local" ? "Choose a server, or enter its address." : "Choose a provider.");
  if (needsKey(provider) && apiKey === "") say("apiKey", "Paste the API key of your account there.");
  if (provider === "openai-compatible" && !isHttpUrl(baseUrl)) say("baseUrl", "Enter the whole address, such as http://127.0.0.1:8080/v1.");
  if (model === "") say("model", "Choose a model. Test connection lists what the server offers.");
}

function isValidDays(text: string): boolean {
  return text === "" || (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= DAYS_MAX);
}
