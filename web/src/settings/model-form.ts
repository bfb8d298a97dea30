// The edited settings of models: a draft over what is stored, by name, and what a change of the endpoint does to its key.

import type { Layer } from "./settings-layer.ts";

/** Only what was changed here: what others change meanwhile stays. */
export type Draft = Readonly<Record<string, string>>;
export type Group = "" | "fallback/";

/** `inherited`: the settings that apply where nothing is stored. */
export type ModelForm = {
  value: (name: string) => string;
  change: (values: Draft) => void;
  stored: Layer;
  inherited: Layer;
};

/** The value of a key field that means: remove the stored key. */
export const REMOVE_KEY = "(remove)";

export function hasStoredKey({ stored }: ModelForm, group: Group): boolean {
  return (stored.get(`${group}api_key`) ?? "") !== "";
}

/** Whether the form names another provider or server than the stored key is for. */
export function isOtherEndpoint({ value, stored }: ModelForm, group: Group): boolean {
  return ["provider", "base_url"].some((name) => value(`${group}${name}`).trim() !== (stored.get(`${group}${name}`) ?? ""));
}

/** The key that was typed; empty if the stored one counts. */
export function typedKeyOf({ value, stored }: ModelForm, group: Group): string {
  const key = value(`${group}api_key`);
  return key === REMOVE_KEY || key === stored.get(`${group}api_key`) ? "" : key.trim();
}

/** Another provider: its model, address and key are entered anew, or are the stored ones if it is the stored provider. */
export function changeProvider({ change, stored }: ModelForm, group: Group, provider: string): void {
  const isStored = provider === (stored.get(`${group}provider`) ?? "");
  const of = (name: string) => (isStored ? (stored.get(`${group}${name}`) ?? "") : "");
  change({
    [`${group}provider`]: provider,
    [`${group}model`]: of("model"),
    [`${group}base_url`]: of("base_url"),
    [`${group}api_key`]: "",
  });
}

/** In the order in which they are written: a key of the old endpoint is removed before the new endpoint is stored, a new key comes last. */
export function listChanges(draft: Draft, stored: Layer): [string, string][] {
  const changed = Object.entries(draft).filter(([name, value]) => !name.endsWith("api_key") && value.trim() !== (stored.get(name) ?? ""));
  const removedKeys: [string, string][] = [];
  const newKeys: [string, string][] = [];
  for (const group of ["", "fallback/"]) {
    const isMoved = changed.some(([name]) => name === `${group}provider` || name === `${group}base_url`);
    const key = `${group}api_key`;
    const hasKey = stored.get(key) !== undefined && stored.get(key) !== "";
    if ((isMoved && hasKey) || draft[key] === REMOVE_KEY) removedKeys.push([key, ""]);
    const newKey = draft[key]?.trim() ?? "";
    if (newKey !== "" && newKey !== REMOVE_KEY) newKeys.push([key, newKey]);
  }
  return [...removedKeys, ...changed.map(([name, value]): [string, string] => [name, value.trim()]), ...newKeys];
}
