// Whether a deadline by this browser's clock has passed, for content that is shown only until then. Null has no deadline.

import { useEffect, useState } from "preact/hooks";

export function useHasPassed(until: number | null): boolean {
  const [passed, setPassed] = useState<number | null>(null);
  useEffect(() => {
    if (until === null) return;
    const timer = setTimeout(() => setPassed(until), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  return until !== null && passed === until;
}
