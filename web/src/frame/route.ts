// Where one is, held by the address alone: reloading, going back and a link sent to somebody else show the same. The path
// is the first pane, ?beside= the second.

import { computed, signal } from "@preact/signals";

export type PaneName = "main" | "beside";
/** A path such as /chat/4f1c, without anything a browser would read into it. */
export type Path = string;
export type Address = { main: Path; beside: Path | null };

const here = signal<Address>(read(location.href));
/** The pane that was used last: keys and the palette mean that one. */
const used = signal<PaneName>("main");
/** Moves that a person made, so that a first load takes no focus away. */
const made = signal(0);

export const address = computed(() => here.value);
export const activePane = computed<PaneName>(() => (here.value.beside === null ? "main" : used.value));
export const moves = computed(() => made.value);

export function read(href: string): Address {
  const url = new URL(href);
  const beside = url.searchParams.get("beside");
  return { main: clean(url.pathname), beside: beside === null ? null : clean(beside) };
}

export function write({ main, beside }: Address): string {
  return beside === null ? main : `${main}?beside=${encodeURIComponent(beside).replaceAll("%2F", "/")}`;
}

/** Shows `path` in a pane: the one that is used, unless said otherwise. `replace` leaves no step to go back to. */
export function go(path: Path, { pane = activePane.peek(), replace = false }: { pane?: PaneName; replace?: boolean } = {}): void {
  const to = clean(path);
  const now = here.peek();
  used.value = pane;
  move(pane === "main" ? { ...now, main: to } : { ...now, beside: to }, replace);
}

/** Closing the first pane leaves what was in the second. */
export function closePane(pane: PaneName): void {
  const { main, beside } = here.peek();
  if (beside === null) return;
  used.value = "main";
  move({ main: pane === "main" ? beside : main, beside: null }, false);
}

export function swapPanes(): void {
  const { main, beside } = here.peek();
  if (beside !== null) move({ main: beside, beside: main }, false);
}

export function touchPane(pane: PaneName): void {
  used.value = pane;
}

/** The parts of a path: /chat/4f1c is ["chat", "4f1c"]. */
export function parts(path: Path): string[] {
  return path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
}

/** The way back: each part made safe to stand in a path. */
export function pathOf(...segments: string[]): Path {
  return `/${segments.map(encoded).join("/")}`;
}

/** With the few signs that encodeURIComponent leaves and the gateway takes for no address of a page. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
}

function move(to: Address, replace: boolean): void {
  const url = write(to);
  if (url !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", url);
  here.value = to;
  made.value += 1;
}

/** One leading slash: an address of somebody else's cannot be made of it. */
function clean(path: string): Path {
  const bare = path.split(/[?#]/)[0]!;
  return `/${bare
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..")
    .join("/")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener("popstate", () => {
  here.value = read(location.href);
  made.value += 1;
});
