// The result of a read for a component: read when it mounts, and again after every reconnect and on matching signals.

import { effect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { CallName } from "../../../src/client/client.ts";
import { type Args, call, describeError, type Result } from "./call.ts";
import type { SignalFilter } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount } from "./session.ts";

/** `shouldRefetch` decides for each signal of the gateway. */
export function useLatest<N extends CallName>(name: N, args: Args<N>, shouldRefetch?: SignalFilter): Latest<Result<N>> {
  return useRead(() => call(name, args), JSON.stringify([name, args]), shouldRefetch);
}

/** For what takes more than one call. `read` is another one only if `key` is. */
export function useRead<T>(read: () => Promise<T>, key: string, shouldRefetch?: SignalFilter): Latest<T> {
  const latest = useMemo(() => new Latest<T>(read, describeError), [key]);
  useEffect(
    () =>
      effect(() => {
        if (connectionCount.value === 0) return;
        void latest.refetch();
        return client.value?.onSignal((sent) => {
          if (shouldRefetch?.(sent) === true) void latest.refetch();
        });
      }),
    [latest],
  );
  return latest;
}
