// The settings of one layer: of the gateway (config/ai) or of one user (users/<uid>/ai). The page keeps only whether a secret is
// set, never its value, so that it cannot be shown again.

import { call } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import type { Latest } from "../state/latest.ts";
import { useRead } from "../state/use-latest.ts";

/** Values by name, relative to the prefix. */
export type Layer = ReadonlyMap<string, string>;

/** Placeholder for a secret that is set. */
export const SECRET_SET = "(set)";

const isSecret = (name: string) => /(?:^|[/_])api_key$/.test(name);
const isConfigChange = makeChangeFilter("config");

export const SYSTEM_PREFIX = "config/ai";

export function userPrefix(uid: number): string {
  return `users/${uid}/ai`;
}

export function useLayer(prefix: string): Latest<Layer> {
  return useRead(() => readLayer(prefix), prefix, isConfigChange);
}

/** Writes the changes one after the other, in the given order. */
export async function writeSettings(prefix: string, changes: Iterable<readonly [name: string, value: string]>): Promise<void> {
  for (const [name, value] of changes) await call("sys.config.set", { key: `${prefix}/${name}`, value });
}

/** What remains of a draft when its state of then was saved: what was typed since. */
export function withoutSaved<D extends Readonly<Record<string, string>>>(current: D, saved: D): D {
  return Object.fromEntries(Object.entries(current).filter(([name, value]) => saved[name] !== value)) as D;
}

async function readLayer(prefix: string): Promise<Layer> {
  const { entries } = await call("sys.config.get", { key: prefix });
  return new Map(
    entries.map(({ key, value }) => {
      const name = key.slice(prefix.length + 1);
      return [name, isSecret(name) && value !== "" ? SECRET_SET : value];
    }),
  );
}
