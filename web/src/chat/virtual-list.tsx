// A virtualized list: only rows near the viewport are in the page. Rows have any height, estimated until a row is rendered and
// measured from then on. Visible rows keep their position when content above is added or grows; at the end, the list follows
// the end.

import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { findRowRange, computeTops } from "./row-positions.ts";

export type Keyed = { key: string };
export type ListHandle = { scrollToEnd(): void; scrollToRow(key: string): void };

type ListProps<R extends Keyed> = {
  rows: readonly R[];
  label: string;
  /** Estimate, until the row is measured. */
  estimateHeight: (row: R) => number;
  render: (row: R) => ComponentChildren;
  /** When it changes, the rows were replaced: the list shows the end, unless the anchor row still exists. */
  resetKey: number;
  /** The last row is the newest of the history, so the list may follow the end. */
  isAtNewest: boolean;
  onNearTop: () => void;
  onNearEnd: () => void;
  onFollowing: (isFollowing: boolean) => void;
  handle: { current: ListHandle | null };
};

/** Rows are also rendered this far outside the viewport, so that scrolling shows no gaps. */
const MARGIN_PX = 500;
/** Within this distance of an end, the next page is read. */
const NEAR_PX = 1_200;
/** Within this distance of the end, the list follows the end. */
const END_PX = 48;
/** How often rows are measured before the browser may paint: heights that never settle must not freeze the page. */
const PASSES_MAX = 10;

export function VirtualList<R extends Keyed>(props: ListProps<R>) {
  const { rows, label, estimateHeight, render, resetKey, isAtNewest, onNearTop, onNearEnd, onFollowing, handle } = props;
  const box = useRef<HTMLDivElement>(null);
  const [, refresh] = useState(0);
  const state = useMemo(
    () => ({
      heights: new Map<string, number>(),
      anchor: null as Anchor | null,
      isFollowing: true,
      reportedFollowing: true,
      top: 0,
      passes: 0,
      resetKey,
    }),
    [],
  );
  if (state.resetKey !== resetKey) {
    state.resetKey = resetKey;
    if (state.anchor === null || !rows.some(({ key }) => key === state.anchor!.key)) {
      state.anchor = null;
      state.isFollowing = isAtNewest;
    }
  }
  const tops = computeTops(rows, state.heights, estimateHeight);
  const total = tops[rows.length]!;
  const view = box.current?.clientHeight ?? 800;
  const anchorIndex = state.anchor === null ? -1 : rows.findIndex(({ key }) => key === state.anchor!.key);
  const top = state.isFollowing ? Math.max(0, total - view) : anchorIndex >= 0 ? tops[anchorIndex]! - state.anchor!.at : state.top;
  const { start, end } = findRowRange(tops, top - MARGIN_PX, top + view + MARGIN_PX);
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
    restoreScroll(element, state, top);
    state.top = element.scrollTop;
    // If everything fits, the list is at its end.
    if (isAtNewest && element.scrollHeight <= element.clientHeight) state.isFollowing = true;
    if (state.reportedFollowing !== state.isFollowing) {
      state.reportedFollowing = state.isFollowing;
      onFollowing(state.isFollowing);
    }
    state.passes = isChanged ? state.passes + 1 : 0;
    const rerender = () => refresh((count) => count + 1);
    if (isChanged && state.passes < PASSES_MAX) rerender();
    else if (isChanged) requestAnimationFrame(rerender);
  });

  useEffect(() => {
    if (isNear.top) onNearTop();
    if (isNear.end && !isAtNewest) onNearEnd();
  });

  useEffect(() => {
    const element = box.current!;
    // Rows change their size when images load or details are opened; the box when the window does.
    const sizes = new ResizeObserver(() => refresh((count) => count + 1));
    sizes.observe(element);
    const findRowElements = () => element.querySelectorAll(":scope > [data-row]");
    const changes = new MutationObserver((records) => {
      for (const { addedNodes, removedNodes } of records) {
        for (const node of addedNodes) if (node instanceof HTMLElement) sizes.observe(node);
        for (const node of removedNodes) if (node instanceof HTMLElement) sizes.unobserve(node);
      }
    });
    changes.observe(element, { childList: true });
    for (const row of findRowElements()) sizes.observe(row);
    return () => {
      sizes.disconnect();
      changes.disconnect();
    };
  }, []);

  useEffect(() => {
    handle.current = {
      scrollToEnd: () => {
        state.anchor = null;
        state.isFollowing = true;
        refresh((count) => count + 1);
      },
      scrollToRow: (key) => {
        state.anchor = { key, at: 72 };
        state.isFollowing = false;
        refresh((count) => count + 1);
      },
    };
    return () => {
      handle.current = null;
    };
  });

  // The event may come after the list has left the page.
  const handleScroll = ({ currentTarget: element }: TargetedEvent<HTMLDivElement>) => {
    // restoreScroll caused this event, so the anchor stays.
    if (Math.abs(element.scrollTop - state.top) < 1) return;
    state.top = element.scrollTop;
    const distanceToEnd = element.scrollHeight - element.clientHeight - element.scrollTop;
    state.isFollowing = isAtNewest && distanceToEnd < END_PX;
    state.anchor = state.isFollowing ? null : findAnchor(element);
    refresh((count) => count + 1);
  };

  return (
    <div class="vlist" ref={box} onScroll={handleScroll} tabIndex={0} role="log" aria-live="off" aria-label={label}>
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

/** Scrolls to the end, or so that the anchor row keeps its position. `top`: the scroll position computed from known heights. */
function restoreScroll(element: HTMLElement, state: { isFollowing: boolean; anchor: Anchor | null }, top: number): void {
  const { isFollowing, anchor } = state;
  if (isFollowing) {
    element.scrollTop = element.scrollHeight;
    return;
  }
  if (anchor === null) return;
  const row = element.querySelector<HTMLElement>(`:scope > [data-row="${CSS.escape(anchor.key)}"]`);
  if (row === null) {
    // The anchor row is not rendered, such as after a jump: take a visible row as the new anchor.
    element.scrollTop = top;
    state.anchor = findAnchor(element);
    return;
  }
  const offset = row.getBoundingClientRect().top - element.getBoundingClientRect().top - anchor.at;
  if (Math.abs(offset) >= 1) element.scrollTop += offset;
}

/** The first visible row. */
function findAnchor(element: HTMLElement): Anchor | null {
  const edge = element.getBoundingClientRect().top;
  for (const row of element.querySelectorAll<HTMLElement>(":scope > [data-row]")) {
    const { top, bottom } = row.getBoundingClientRect();
    if (bottom > edge + 1) return { key: row.dataset.row!, at: top - edge };
  }
  return null;
}
