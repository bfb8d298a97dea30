// Settings of one layer: those of the gateway (config/ai) or of one user (users/<uid>/ai). Of a secret the page keeps only that
// there is one: it is never shown again, not even to whoever wrote it.

import { useEffect, useMemo } from "preact/hooks";
import { effect } from "@preact/signals";
import { call, describeError } from "../state/call.ts";
import { matchChanges } from "../state/refetch-on.ts";
import { Latest } from "../state/latest.ts";
import { client, connectionCount } from "../state/session.ts";

/** By their names below the prefix. */
export type Layer = ReadonlyMap<string, string>;

/** Stands for a secret that is set. */
export const SET = "(set)";

const isSecret = (name: string) => /(?:^|[/_])api_key$/.test(name);
const isOfThis = matchChanges("config");

export const SYSTEM = "config/ai";

export function ownPrefix(uid: number): string {
  return `users/${uid}/ai`;
}

export function useLayer(prefix: string): Latest<Layer> {
  const latest = useMemo(() => new Latest<Layer>(() => read(prefix), describeError), [prefix]);
  useEffect(
    () =>
      effect(() => {
        if (connectionCount.value === 0) return;
        void latest.refetch();
        return client.value?.onSignal((sent) => {
          if (isOfThis(sent)) void latest.refetch();
        });
      }),
    [latest],
  );
  return latest;
}

/** One after the other, in the order given. */
export async function write(prefix: string, changes: Iterable<readonly [name: string, value: string]>): Promise<void> {
  for (const [name, value] of changes) await call("sys.config.set", { key: `${prefix}/${name}`, value });
}

async function read(prefix: string): Promise<Layer> {
  const { entries } = await call("sys.config.get", { key: prefix });
  return new Map(
    entries.map(({ key, value }) => {
      const name = key.slice(prefix.length + 1);
      return [name, isSecret(name) && value !== "" ? SET : value];
    }),
  );
}
