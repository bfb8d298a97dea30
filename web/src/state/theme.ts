// Theme and density, stored in this browser. The theme follows the system by default.

import { effect, signal } from "@preact/signals";
import { readItem, writeItem } from "./local-storage.ts";

export type Theme = "system" | "light" | "dark";

export type Density = "roomy" | "tight";

const KEY = "gsv.theme";
const DENSITY_KEY = "gsv.density";
const storedTheme = readItem(KEY);

export const theme = signal<Theme>(storedTheme === "light" || storedTheme === "dark" ? storedTheme : "system");

export const density = signal<Density>(readItem(DENSITY_KEY) === "tight" ? "tight" : "roomy");

/** Applies and stores both signals now and whenever they change. */
export function followAppearance(): void {
  effect(() => {
    const { value } = theme;
    writeItem(KEY, value === "system" ? null : value);
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
    // The colour of the browser's own bars.
    for (const meta of document.querySelectorAll<HTMLMetaElement>("meta[data-theme]"))
      meta.media = value === "system" ? `(prefers-color-scheme: ${meta.dataset.theme})` : meta.dataset.theme === value ? "all" : "not all";
  });
  effect(() => {
    const { value } = density;
    writeItem(DENSITY_KEY, value === "roomy" ? null : value);
    if (value === "roomy") delete document.documentElement.dataset.density;
    else document.documentElement.dataset.density = value;
  });
}
