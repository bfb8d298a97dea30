// The current step of set-up, held in the URL fragment so that back, forward and a reload work. A lane is a sequence of steps, and
// what was chosen adds those that it needs: a provider its key, a separate administrator a password. Any step can be opened directly;
// the step after one outside the lane is the review.

import { computed, signal } from "@preact/signals";
import { draft, type Draft, type Lane } from "./draft.ts";

export type Step = "welcome" | "account" | "admin" | "time" | "ai" | "machine" | "review";

export const TITLES: Readonly<Record<Step, string>> = {
  welcome: "Welcome to GSV",
  account: "Your account",
  admin: "Administrator",
  time: "Your time zone",
  ai: "AI model",
  machine: "Your first machine",
  review: "Review",
};

/** For the list of steps. */
export const SHORT_TITLES: Readonly<Record<Step, string>> = {
  welcome: "Welcome",
  account: "Account",
  admin: "Admin",
  time: "Time zone",
  ai: "Model",
  machine: "Machine",
  review: "Review",
};

const LANES: Readonly<Record<Lane, readonly Step[]>> = {
  quick: ["welcome", "account", "review"],
  customize: ["welcome", "account", "ai", "time", "review"],
  advanced: ["welcome", "account", "admin", "ai", "time", "machine", "review"],
};

export const STEP_OF: Readonly<Record<keyof Draft, Step>> = {
  lane: "welcome",
  username: "account",
  password: "account",
  again: "account",
  adminMode: "admin",
  adminPassword: "admin",
  timezone: "time",
  aiKind: "ai",
  provider: "ai",
  model: "ai",
  apiKey: "ai",
  baseUrl: "ai",
  hasDevice: "machine",
  deviceId: "machine",
  expiryDays: "machine",
};

/** Removed from the URL at once, so that it does not stay in the browser's history. */
export const codeFromUrl = takeCodeFromUrl();

const currentStep = signal<Step>(readStepFromUrl());
export const step = computed(() => currentStep.value);
/** The steps of the chosen lane, and those that the draft needs beyond it. */
export const laneSteps = computed(() => listSteps(draft.value));

export function goToStep(to: Step): void {
  if (to === currentStep.peek()) return;
  history.pushState(null, "", to === "welcome" ? location.pathname : `#${to}`);
  currentStep.value = to;
}

function listSteps({ lane, aiKind, adminMode, hasDevice }: Draft): readonly Step[] {
  const needed: Partial<Record<Step, boolean>> = { ai: aiKind !== "own", admin: adminMode === "custom", machine: hasDevice };
  return LANES.advanced.filter((one) => LANES[lane].includes(one) || needed[one] === true);
}

export function stepAfter(from: Step): Step {
  const steps = laneSteps.peek();
  const at = steps.indexOf(from);
  return at === -1 ? "review" : (steps[at + 1] ?? "review");
}

export function stepBefore(from: Step): Step | null {
  const steps = laneSteps.peek();
  const at = steps.indexOf(from);
  return at === -1 ? "review" : (steps[at - 1] ?? null);
}

function readStepFromUrl(): Step {
  const name = location.hash.slice(1);
  return Object.hasOwn(TITLES, name) ? (name as Step) : "welcome";
}

function takeCodeFromUrl(): string {
  const code = /^#setup=(.+)$/.exec(location.hash)?.[1];
  if (code === undefined) return "";
  history.replaceState(null, "", location.pathname);
  try {
    return decodeURIComponent(code);
  } catch {
    return code;
  }
}

addEventListener("popstate", () => {
  currentStep.value = readStepFromUrl();
});
