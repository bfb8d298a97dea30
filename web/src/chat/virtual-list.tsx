// A long list of which only what can be seen is in the page. Rows have any height: it is guessed until a row was seen and
// measured from then on. Where one looks stays where it is, whatever comes or grows above; at the end it follows the end.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { rangeOf, topsOf } from "./row-places.ts";

export type Keyed = { key: string };
export type ListHandle = { toEnd(): void; toRow(key: string): void };

type ListProps<R extends Keyed> = {
  rows: readonly R[];
  label: string;
  /** A guess, before it was seen. */
  heightOf: (row: R) => number;
  render: (row: R) => ComponentChildren;
  /** Nothing is as it was: show the end, unless a row is asked for. */
  life: number;
  /** The last row is the newest there is, so that the end may be followed. */
  isAtNewest: boolean;
  onNearTop: () => void;
  onNearEnd: () => void;
  onFollowing: (isFollowing: boolean) => void;
  handle: { current: ListHandle | null };
};

/** Beyond what can be seen, so that scrolling shows no gaps. */
const MARGIN_PX = 500;
/** So near to an end the next page is fetched. */
const NEAR_PX = 1_200;
/** So near to the end one means the end. */
const END_PX = 48;
/** How often rows are measured again before the browser gets to draw: heights that never settle must not freeze the page. */
const PASSES_MAX = 10;

export function VirtualList<R extends Keyed>(props: ListProps<R>) {
  const { rows, label, heightOf, render, life, isAtNewest, onNearTop, onNearEnd, onFollowing, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, refresh] = useState(0);
  const state = useMemo(
    () => ({
      heights: new Map<string, number>(),
      anchor: null as Anchor | null,
      isFollowing: true,
      told: true,
      top: 0,
      passes: 0,
      life,
    }),
    [],
  );
  if (state.life !== life) {
    state.life = life;
    if (state.anchor === null || !rows.some(({ key }) => key === state.anchor!.key)) {
      state.anchor = null;
      state.isFollowing = isAtNewest;
    }
  }
  const tops = topsOf(rows, state.heights, heightOf);
  const total = tops[rows.length]!;
  const view = box.current?.clientHeight ?? 800;
  const anchored = state.anchor === null ? -1 : rows.findIndex(({ key }) => key === state.anchor!.key);
  const top = state.isFollowing ? Math.max(0, total - view) : anchored >= 0 ? tops[anchored]! - state.anchor!.at : state.top;
  const { start, end } = rangeOf(tops, top - MARGIN_PX, top + view + MARGIN_PX);
  const isNear = { top: top < NEAR_PX, end: total - top - view < NEAR_PX };

  useLayoutEffect(() => {
    const element = box.current!;
    let isChanged = false;
    for (const row of element.querySelectorAll<HTMLElement>(":scope > [data-row]")) {
      const key = row.dataset.row!;
      const height = row.offsetHeight;
      if (state.heights.get(key) !== height) isChanged = true;
      state.heights.set(key, height);
    }
    place(element, state, top);
    state.top = element.scrollTop;
    // Where all of it is in sight, one is at its end.
    if (isAtNewest && element.scrollHeight <= element.clientHeight) state.isFollowing = true;
    if (state.told !== state.isFollowing) {
      state.told = state.isFollowing;
      onFollowing(state.isFollowing);
    }
    state.passes = isChanged ? state.passes + 1 : 0;
    const again = () => refresh((count) => count + 1);
    if (isChanged && state.passes < PASSES_MAX) again();
    else if (isChanged) requestAnimationFrame(again);
  });

  useEffect(() => {
    if (isNear.top) onNearTop();
    if (isNear.end && !isAtNewest) onNearEnd();
  });

  useEffect(() => {
    const element = box.current!;
    // Rows grow by themselves when pictures come and when something is unfolded; the box with the window.
    const sizes = new ResizeObserver(() => refresh((count) => count + 1));
    sizes.observe(element);
    const rowsIn = () => element.querySelectorAll(":scope > [data-row]");
    const changes = new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records) {
        for (const node of addedNodes) if (node instanceof HTMLElement) sizes.observe(node);
        for (const node of removedNodes) if (node instanceof HTMLElement) sizes.unobserve(node);
      }
    });
    changes.observe(element, { childList: true });
    for (const row of rowsIn()) sizes.observe(row);
    return () => {
      sizes.disconnect();
      changes.disconnect();
    };
  }, []);

  useEffect(() => {
    handle.current = {
      toEnd: () => {
        state.anchor = null;
        state.isFollowing = true;
        refresh((count) => count + 1);
      },
      toRow: (key) => {
        state.anchor = { key, at: 72 };
        state.isFollowing = false;
        refresh((count) => count + 1);
      },
    };
    return () => {
      handle.current = null;
    };
  });

  const scrolled = () => {
    const element = box.current!;
    // Set by ourselves: what was looked at is still what is looked at.
    if (Math.abs(element.scrollTop - state.top) < 1) return;
    state.top = element.scrollTop;
    const left = element.scrollHeight - element.clientHeight - element.scrollTop;
    state.isFollowing = isAtNewest && left < END_PX;
    state.anchor = state.isFollowing ? null : anchorIn(element);
    refresh((count) => count + 1);
  };

  return (
    <div class="vlist" ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-live="off" aria-label={label}>
      <div class="vlist-space" style={{ height: `${tops[start]}px` }} aria-hidden="true" />
      {rows.slice(start, end).map((row) => (
        <div class="vlist-row" key={row.key} data-row={row.key}>
          {render(row)}
        </div>
      ))}
      <div class="vlist-space" style={{ height: `${total - tops[end]!}px` }} aria-hidden="true" />
    </div>
  );
}

type Anchor = { key: string; at: number };

/** Scrolls so that what was looked at, or the end, is where it was. `top` is where that should be by the heights one knows. */
function place(element: HTMLElement, state: { isFollowing: boolean; anchor: Anchor | null }, top: number): void {
  const { isFollowing, anchor } = state;
  if (isFollowing) {
    element.scrollTop = element.scrollHeight;
    return;
  }
  if (anchor === null) return;
  const row = element.querySelector<HTMLElement>(`:scope > [data-row="${CSS.escape(anchor.key)}"]`);
  if (row === null) {
    // After a jump one still held on to a row far away: from now on to one that can be seen.
    element.scrollTop = top;
    state.anchor = anchorIn(element);
    return;
  }
  const away = row.getBoundingClientRect().top - element.getBoundingClientRect().top - anchor.at;
  if (Math.abs(away) >= 1) element.scrollTop += away;
}

/** The first row that can be seen. */
function anchorIn(element: HTMLElement): Anchor | null {
  const edge = element.getBoundingClientRect().top;
  for (const row of element.querySelectorAll<HTMLElement>(":scope > [data-row]")) {
    const { top, bottom } = row.getBoundingClientRect();
    if (bottom > edge + 1) return { key: row.dataset.row!, at: top - edge };
  }
  return null;
}
