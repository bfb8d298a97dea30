// What a person has filled in so far. It outlives a reload, except for its secrets, which are held in memory alone. A guide's
// proposals are laid into it here, one field at a time, and marked until the person touches the field.

import { effect, signal } from "@preact/signals";
import type { Result } from "../state/call.ts";

export type Lane = "quick" | "customize" | "advanced";
/** `own`: the gateway's own model, which is the demo model where it has none. */
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
export type Check = NonNullable<Result<"sys.setup.check">["ai"]>;

export const LOCAL_PROVIDERS = ["ollama", "llamacpp", "lmstudio", "vllm", "openai-compatible"];

const KEY = "gsv.setup";

export const draft = signal<Draft>({ ...fresh(), ...restored() });
/** Fields that the guide filled in and the person has not touched since. */
export const guided = signal<ReadonlySet<string>>(new Set());
/** What the last try at the model that is filled in came to. */
export const check = signal<Check | null>(null);
/** What the gateway said of a field, until it is changed. */
export const refused = signal<ReadonlyMap<string, string>>(new Map());

const AI_FIELDS: readonly (keyof Draft)[] = ["aiKind", "provider", "model", "apiKey", "baseUrl"];

/** By the person's own hand. */
export function change(part: Partial<Draft>): void {
  lay(part);
  const names = new Set(Object.keys(part));
  guided.value = new Set([...guided.peek()].filter((name) => !names.has(name)));
}

function lay(part: Partial<Draft>): void {
  draft.value = { ...draft.peek(), ...part };
  const names = Object.keys(part);
  if (names.some((name) => AI_FIELDS.includes(name as keyof Draft))) check.value = null;
  if (names.some((name) => refused.peek().has(name)))
    refused.value = new Map([...refused.peek()].filter(([name]) => !names.includes(name)));
}

/** The model that a try found, without forgetting the try. */
export function chooseModel(found: Check): void {
  change({ model: found.model });
  check.value = found;
}

/** What the last try said of a field, to be shown there. */
export function checkError(field: "provider" | "model" | "apiKey" | "baseUrl"): string | null {
  const problem = check.value?.problem;
  return problem?.field === field ? problem.message : null;
}

/** The field a path of the wire is in. */
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
  "device.enabled": "hasDevice",
  "device.deviceId": "deviceId",
  "device.expiryDays": "expiryDays",
};

/** Lays a proposal into the form and says which field now holds what, or null where it has no place here. */
export function propose({ op, path, value }: Patch): { field: keyof Draft; value: string } | null {
  const field = FIELD_OF[path];
  if (field === undefined) return null;
  const part = op === "clear" ? { [field]: fresh()[field] } : partOf(field, path, value);
  if (part === null) return null;
  lay(part);
  guided.value = new Set([...guided.peek(), ...Object.keys(part)]);
  const laid = draft.peek()[field];
  return { field, value: typeof laid === "boolean" ? (laid ? "yes" : "no") : laid };
}

function partOf(field: keyof Draft, path: string, value: Patch["value"]): Partial<Draft> | null {
  if (path === "ai.enabled") return { aiKind: value === true ? (kindOf(draft.peek().provider) ?? "provider") : "own" };
  if (path === "device.enabled") return { hasDevice: value === true };
  if (typeof value !== "string") return null;
  if (path === "ai.provider") {
    const kind = kindOf(value);
    if (value === draft.peek().provider) return { provider: value };
    // A key goes only to whom it was typed for.
    return kind === null ? null : { provider: value, aiKind: kind, model: "", baseUrl: "", apiKey: "" };
  }
  return { [field]: value };
}

function kindOf(provider: string): AiKind | null {
  if (provider === "") return null;
  return provider === "demo" || provider === "workers-ai" ? "own" : LOCAL_PROVIDERS.includes(provider) ? "local" : "provider";
}

function fresh(): Draft {
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

function restored(): Partial<Draft> {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    const like = fresh();
    const isSound = ([name, value]: [string, unknown]) => name in like && typeof value === typeof like[name as keyof Draft];
    return Object.fromEntries(Object.entries(kept).filter(isSound));
  } catch {
    return {};
  }
}

effect(() => {
  const { password: _, again: __, adminPassword: ___, apiKey: ____, ...open } = draft.value satisfies Record<Secret, unknown>;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(open));
  } catch {
    // A private window without storage: then a reload begins anew.
  }
});

/** Set-up is over: nothing of it stays. */
export function forgetDraft(): void {
  draft.value = fresh();
  sessionStorage.removeItem(KEY);
}

/** Whether passwords can be read while they are typed. */
export const shown = signal(false);
