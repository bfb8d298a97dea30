// Routing. The URL alone says what the panes show, so a reload, the back button and a shared link show the same. The path is the
// first pane, ?beside= the second.

import { computed, signal } from "@preact/signals";

export type PaneName = "main" | "beside";
/** A normalized path such as /chat/4f1c, without query or fragment. */
export type Path = string;
export type Address = { main: Path; beside: Path | null };

const currentAddress = signal<Address>(parseAddress(location.href));
/** Keys and the palette act on this pane. */
const lastUsedPane = signal<PaneName>("main");
/** Counts navigations since the page loaded: the first load must not move the focus. */
const moveTotal = signal(0);

export const address = computed(() => currentAddress.value);
export const activePane = computed<PaneName>(() => (currentAddress.value.beside === null ? "main" : lastUsedPane.value));
export const moveCount = computed(() => moveTotal.value);

export function parseAddress(href: string): Address {
  const url = new URL(href);
  const beside = url.searchParams.get("beside");
  return { main: normalizePath(url.pathname), beside: beside === null ? null : normalizePath(beside) };
}

export function formatAddress({ main, beside }: Address): string {
  return beside === null ? main : `${main}?beside=${encodeURIComponent(beside).replaceAll("%2F", "/")}`;
}

/** Shows `path` in a pane, the active one by default. `replace` adds no history entry. */
export function go(path: Path, { pane = activePane.peek(), replace = false }: { pane?: PaneName; replace?: boolean } = {}): void {
  const to = normalizePath(path);
  const now = currentAddress.peek();
  lastUsedPane.value = pane;
  navigate(pane === "main" ? { ...now, main: to } : { ...now, beside: to }, replace);
}

/** If the first pane is closed, the content of the second takes its place. */
export function closePane(pane: PaneName): void {
  const { main, beside } = currentAddress.peek();
  if (beside === null) return;
  lastUsedPane.value = "main";
  navigate({ main: pane === "main" ? beside : main, beside: null }, false);
}

export function swapPanes(): void {
  const { main, beside } = currentAddress.peek();
  if (beside !== null) navigate({ main: beside, beside: main }, false);
}

export function activatePane(pane: PaneName): void {
  lastUsedPane.value = pane;
}

/** Decoded segments: /chat/4f1c is ["chat", "4f1c"]. */
export function splitPath(path: Path): string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map(decodeSegment);
}

/** The inverse of splitPath. */
export function joinPath(...segments: string[]): Path {
  return `/${segments.map(encodeSegment).join("/")}`;
}

/** Also encodes the characters that encodeURIComponent keeps but the gateway does not accept in the address of a page. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

function navigate(to: Address, replace: boolean): void {
  const url = formatAddress(to);
  if (url !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", url);
  currentAddress.value = to;
  moveTotal.value += 1;
}

/** Ensures a single leading slash, because a path that starts with // would name another origin. */
function normalizePath(path: string): Path {
  const bare = path.split(/[?#]/)[0]!;
  return `/${bare
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .join("/")}`;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener("popstate", () => {
  currentAddress.value = parseAddress(location.href);
  moveTotal.value += 1;
});
