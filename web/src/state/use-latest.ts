// A read call as a screen shows it: read when the screen comes, again after every reconnection and when a signal tells that
// something changed.

import { effect } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { CallName } from "../../../src/client/client.ts";
import { type Args, call, type Result, sentence } from "./call.ts";
import type { Hears } from "./refetch-on.ts";
import { Latest } from "./latest.ts";
import { client, connected } from "./session.ts";

/** `hear` says whether a signal of the gateway means that it should be read again. */
export function useLatest<N extends CallName>(name: N, args: Args<N>, hear?: Hears): Latest<Result<N>> {
  const key = JSON.stringify([name, args]);
  const latest = useMemo(() => new Latest<Result<N>>(() => call(name, args), sentence), [key]);
  useEffect(
    () =>
      effect(() => {
        if (connected.value === 0) return;
        void latest.refetch();
        return client.value?.onSignal((sent) => {
          if (hear?.(sent) === true) void latest.refetch();
        });
      }),
    [latest],
  );
  return latest;
}
