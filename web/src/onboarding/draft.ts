// The values entered during set-up. They survive a reload, except for secrets, which are only in memory. The guide's proposals are
// applied here, field by field, and marked until the user changes the field.

import { effect, signal } from "@preact/signals";
import type { ModelKey } from "../../../src/lib/model-key.ts";
import type { Result } from "../state/call.ts";

export type Lane = "quick" | "customize" | "advanced";
/** `own`: the gateway's own model, which is the demo model if it has no other. */
export type AiKind = "own" | "provider" | "local";

export type Draft = {
  lane: Lane;
  username: string;
  password: string;
  again: string;
  adminMode: "same" | "custom";
  adminPassword: string;
  timezone: string;
  aiKind: AiKind;
  provider: string;
  model: string;
  apiKey: string;
  baseUrl: string;
  hasDevice: boolean;
  deviceId: string;
  expiryDays: string;
};

type Secret = "password" | "again" | "adminPassword" | "apiKey";
export type Patch = Result<"sys.setup.assist">["patches"][number];
export type ModelCheckResult = NonNullable<Result<"sys.setup.check">["ai"]>;

export const LOCAL_PROVIDERS = ["ollama", "llamacpp", "lmstudio", "vllm", "openai-compatible"];

const STORAGE_KEY = "gsv.setup";

export const draft = signal<Draft>({ ...makeEmptyDraft(), ...restoreDraft() });
/** Fields that the guide filled in and the user has not changed since. */
export const guidedFields = signal<ReadonlySet<string>>(new Set());
/** The result of the last check of the entered model. */
export const modelCheck = signal<ModelCheckResult | null>(null);
/** The servers that were found at the usual ports; null before the search. */
export const foundServers = signal<readonly ModelCheckResult[] | null>(null);
/** When the check of the entered model began that has not ended yet. It goes on while other steps are shown. */
export const modelCheckSince = signal<number | null>(null);
/** The last check of the entered model came to no result: it took too long, or the gateway could not make it. */
export const hasCheckFailed = signal(false);
/** Errors of the gateway by field, until the field changes. */
export const rejectedFields = signal<ReadonlyMap<string, string>>(new Map());

const AI_FIELDS: readonly (keyof Draft)[] = ["aiKind", "provider", "model", "apiKey", "baseUrl"];

/** A change by the user. */
export function changeDraft(part: Partial<Draft>): void {
  setFields(part);
  const names = new Set(Object.keys(part));
  guidedFields.value = new Set([...guidedFields.peek()].filter((name) => !names.has(name)));
}

function setFields(part: Partial<Draft>): void {
  draft.value = { ...draft.peek(), ...part };
  const names = Object.keys(part);
  if (names.some((name) => AI_FIELDS.includes(name as keyof Draft))) {
    modelCheck.value = null;
    modelCheckSince.value = null;
    hasCheckFailed.value = false;
  }
  if (names.some((name) => rejectedFields.peek().has(name)))
    rejectedFields.value = new Map([...rejectedFields.peek()].filter(([name]) => !names.includes(name)));
}

/** Selects the model that a check found, and keeps the result of that check. */
export function applyCheckedModel(found: ModelCheckResult): void {
  changeDraft({ model: found.model });
  modelCheck.value = found;
}

/** The problem that the last check found with a field. */
export function modelCheckErrorOf(field: "provider" | "model" | "apiKey" | "baseUrl"): string | null {
  const problem = modelCheck.value?.problem;
  return problem?.field === field ? problem.message : null;
}

/** Fields by the paths of sys.setup.assist. */
export const FIELD_OF: Readonly<Record<string, keyof Draft>> = {
  "account.username": "username",
  "account.password": "password",
  "account.passwordConfirm": "again",
  "admin.mode": "adminMode",
  "admin.password": "adminPassword",
  "system.timezone": "timezone",
  "ai.enabled": "aiKind",
  "ai.provider": "provider",
  "ai.model": "model",
  "ai.apiKey": "apiKey",
  "ai.baseUrl": "baseUrl",
  "device.enabled": "hasDevice",
  "device.deviceId": "deviceId",
  "device.expiryDays": "expiryDays",
};

/** Applies a proposal of the guide. Returns the field and its new value, or null if the form has no such field. */
export function applyPatch({ op, path, value }: Patch): { field: keyof Draft; value: string } | null {
  const field = FIELD_OF[path];
  if (field === undefined) return null;
  const part = op === "clear" ? { [field]: makeEmptyDraft()[field] } : fieldsOfPatch(field, path, value);
  if (part === null) return null;
  setFields(part);
  markGuided(part);
  const newValue = draft.peek()[field];
  return { field, value: typeof newValue === "boolean" ? (newValue ? "yes" : "no") : newValue };
}

/** Puts a key that the user wrote to the guide into its field. A key whose provider is known chooses that provider. */
export function applyKey({ key, provider }: ModelKey): void {
  const current = draft.peek();
  const isOther = provider !== null && (current.provider !== provider || current.aiKind !== "provider");
  const own = current.aiKind === "own" ? { aiKind: "provider" as const } : {};
  const part = isOther ? { aiKind: "provider" as const, provider, model: "", baseUrl: "", apiKey: key } : { ...own, apiKey: key };
  setFields(part);
  markGuided(part);
}

/** A field that was only emptied was not filled in. */
function markGuided(part: Partial<Draft>): void {
  const fields = new Set<string>(guidedFields.peek());
  for (const [name, value] of Object.entries(part)) {
    if (value === "") fields.delete(name);
    else fields.add(name);
  }
  guidedFields.value = fields;
}

function fieldsOfPatch(field: keyof Draft, path: string, value: Patch["value"]): Partial<Draft> | null {
  if (path === "ai.enabled") return { aiKind: value === true ? (aiKindOf(draft.peek().provider) ?? "provider") : "own" };
  if (path === "device.enabled") return { hasDevice: value === true };
  if (typeof value !== "string") return null;
  if (path === "ai.provider") {
    const kind = aiKindOf(value);
    if (value === draft.peek().provider) return { provider: value };
    // A key must not reach another provider. One that was entered before any provider was chosen belongs to this one.
    const apiKey = draft.peek().provider === "" ? draft.peek().apiKey : "";
    return kind === null ? null : { provider: value, aiKind: kind, model: "", baseUrl: "", apiKey };
  }
  return { [field]: value };
}

function aiKindOf(provider: string): AiKind | null {
  if (provider === "") return null;
  return provider === "demo" || provider === "workers-ai" ? "own" : LOCAL_PROVIDERS.includes(provider) ? "local" : "provider";
}

function makeEmptyDraft(): Draft {
  return {
    lane: "quick",
    username: "",
    password: "",
    again: "",
    adminMode: "same",
    adminPassword: "",
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
    aiKind: "own",
    provider: "",
    model: "",
    apiKey: "",
    baseUrl: "",
    hasDevice: false,
    deviceId: "",
    expiryDays: "",
  };
}

function restoreDraft(): Partial<Draft> {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "{}") as Record<string, unknown>;
    const defaults = makeEmptyDraft();
    const isValid = ([name, value]: [string, unknown]) => name in defaults && typeof value === typeof defaults[name as keyof Draft];
    return Object.fromEntries(Object.entries(stored).filter(isValid));
  } catch {
    return {};
  }
}

effect(() => {
  const { password: _, again: __, adminPassword: ___, apiKey: ____, ...open } = draft.value satisfies Record<Secret, unknown>;
  try {
    sessionStorage.setItem(STORAGE_KEY, JSON.stringify(open));
  } catch {
    // Storage is disabled, such as in a private window: a reload then loses the draft.
  }
});

/** Set-up is complete: delete everything entered. */
export function clearDraft(): void {
  draft.value = makeEmptyDraft();
  sessionStorage.removeItem(STORAGE_KEY);
}

/** Whether password fields show their text. */
export const isPasswordVisible = signal(false);
