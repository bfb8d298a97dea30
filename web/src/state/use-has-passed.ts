// Whether a deadline by this browser's clock has passed, for content that is shown only until then.

import { useEffect, useState } from "preact/hooks";

export function useHasPassed(until: number): boolean {
  const [passed, setPassed] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(until), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  return passed === until;
}
