// Light or dark: as the system says, unless this browser was told otherwise.

import { effect, signal } from "@preact/signals";
import { store, stored } from "./stored.ts";

export type Theme = "system" | "light" | "dark";

const KEY = "gsv.theme";
const before = stored(KEY);

export const theme = signal<Theme>(before === "light" || before === "dark" ? before : "system");

/** Follows the signal from now on. */
export function wearTheme(): void {
  effect(() => {
    const { value } = theme;
    store(KEY, value === "system" ? null : value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  });
}
