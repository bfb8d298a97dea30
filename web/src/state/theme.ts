// Light or dark, as the system says unless this browser was told otherwise; and how much fits on the screen.

import { effect, signal } from "@preact/signals";
import { store, stored } from "./stored.ts";

export type Theme = "system" | "light" | "dark";

export type Density = "roomy" | "tight";

const KEY = "gsv.theme";
const DENSITY_KEY = "gsv.density";
const before = stored(KEY);

export const theme = signal<Theme>(before === "light" || before === "dark" ? before : "system");

export const density = signal<Density>(stored(DENSITY_KEY) === "tight" ? "tight" : "roomy");

/** Follows the signals from now on. */
export function wearTheme(): void {
  effect(() => {
    const { value } = theme;
    store(KEY, value === "system" ? null : value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  });
  effect(() => {
    const { value } = density;
    store(DENSITY_KEY, value === "roomy" ? null : value);
    if (value === "roomy") delete document.documentElement.dataset.density;
    else document.documentElement.dataset.density = value;
  });
}
