// Whether all of what a question shows was in view: its first line and its last, which may lie below the fold of a box that scrolls.
// Nobody allows what was out of sight.

import { useEffect, useRef, useState } from "preact/hooks";

export type Seen = {
  isWhole: boolean;
  /** For an empty element before, and one after, what must be seen. */
  start: { current: HTMLSpanElement | null };
  end: { current: HTMLSpanElement | null };
};

/** Starts anew when `isReady` changes: what is still loading cannot be seen. */
export function useSeen(isReady: boolean): Seen {
  const [start, end] = [useRef<HTMLSpanElement>(null), useRef<HTMLSpanElement>(null)];
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    if (!isReady) return;
    const unseen = new Set<Element>([start.current!, end.current!]);
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) unseen.delete(target);
      if (unseen.size === 0) {
        setWhole(true);
        observer.disconnect();
      }
    });
    for (const edge of unseen) observer.observe(edge);
    return () => observer.disconnect();
  }, [isReady]);
  return { isWhole, start, end };
}

/** Less than all, because of borders that lie on fractions of a pixel. */
const WHOLE = 0.98;

export function useWhollyInView(element: { readonly current: Element | null }): boolean {
  const [isInView, setInView] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setInView((entries.at(-1)?.intersectionRatio ?? 0) >= WHOLE), {
      threshold: WHOLE,
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return isInView;
}
