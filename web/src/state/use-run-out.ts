// Whether a moment of this browser's clock has passed, for what is shown only until then.

import { useEffect, useState } from "preact/hooks";

export function useRunOut(until: number): boolean {
  const [passed, setPassed] = useState<number | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setPassed(until), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  return passed === until;
}
