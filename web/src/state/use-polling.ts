// Refetches what no signal announces, such as the load of a machine, while somebody looks: not in a hidden tab.

import { useEffect } from "preact/hooks";
import type { Latest } from "./latest.ts";

export function usePolling(latest: Pick<Latest<unknown>, "refetch">, ms: number): void {
  useEffect(() => {
    const refetchIfVisible = () => {
      if (document.visibilityState === "visible") void latest.refetch();
    };
    const timer = setInterval(refetchIfVisible, ms);
    document.addEventListener("visibilitychange", refetchIfVisible);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refetchIfVisible);
    };
  }, [latest, ms]);
}
