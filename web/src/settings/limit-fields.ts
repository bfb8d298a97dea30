// The limits that can be set, for what, and how they are written.

import type { Layer } from "./settings-layer.ts";

export const UNLIMITED = "unlimited";
const MINUTE_MS = 60_000;

export const LIMIT_SCOPES = [
  { scope: "user", anchor: "day", title: "Per day", text: "All your agents together, by day in UTC." },
  { scope: "process", anchor: "process", title: "Per agent", text: "All its conversations together." },
  { scope: "run", anchor: "run", title: "Per run", text: "From a message of yours to the end of the answer." },
] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number]["scope"];

/** `defaultLimit`: the limit of a run if nobody set one. */
export const LIMIT_FIELDS = [
  { name: "cost", title: "Dollars", pattern: /^\d{1,9}(\.\d{1,6})?$/, hint: "Enter an amount such as 2.50", defaultLimit: null },
  { name: "tokens", title: "Tokens", pattern: /^\d{1,15}$/, hint: "Enter a whole number", defaultLimit: null },
  { name: "model_calls", title: "Answers", pattern: /^\d{1,9}$/, hint: "Enter a whole number", defaultLimit: "200" },
  { name: "tool_calls", title: "Tool calls", pattern: /^\d{1,9}$/, hint: "Enter a whole number", defaultLimit: "2000" },
  { name: "wall_ms", title: "Minutes", pattern: /^\d{1,7}$/, hint: "Enter whole minutes", defaultLimit: "240" },
] as const;
export type LimitField = (typeof LIMIT_FIELDS)[number];

/** Shows milliseconds as minutes, rounded up. */
export function formatLimit(text: string | undefined, { name }: LimitField): string {
  if (text === undefined || name !== "wall_ms" || !/^\d+$/.test(text)) return text ?? "";
  return String(Math.ceil(Number(text) / MINUTE_MS));
}

export function encodeLimit(text: string, { name }: LimitField): string {
  return name === "wall_ms" && /^\d+$/.test(text) ? String(Number(text) * MINUTE_MS) : text;
}

export function limitError(text: string, { pattern, hint }: LimitField): string | null {
  const bare = text.trim();
  return bare === "" || bare === UNLIMITED || pattern.test(bare) ? null : `${hint}, leave blank, or enter "${UNLIMITED}".`;
}

/** The limit in force, in what it counts; null if there is none. The stricter of the two layers applies. */
export function limitInForce(stored: Layer, inherited: Layer, scope: LimitScope, name: "cost" | "tokens"): number | null {
  const values = [stored, inherited].flatMap((layer) => {
    const text = layer.get(`budget/${scope}/${name}`)?.trim() ?? "";
    return /^\d+(\.\d+)?$/.test(text) ? [Number(text)] : [];
  });
  return values.length === 0 ? null : Math.min(...values);
}
