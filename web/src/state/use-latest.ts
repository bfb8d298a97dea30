// The result of a read call for a component: read when it mounts, and again after every reconnect and on matching signals.

import { effect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { CallName } from "../../../src/client/client.ts";
import { type Args, call, describeError, type Result } from "./call.ts";
import type { SignalFilter } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount } from "./session.ts";

/** `shouldRefetch` decides for each signal of the gateway. */
export function useLatest<N extends CallName>(name: N, args: Args<N>, shouldRefetch?: SignalFilter): Latest<Result<N>> {
  const key = JSON.stringify([name, args]);
  const latest = useMemo(() => new Latest<Result<N>>(() => call(name, args), describeError), [key]);
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
