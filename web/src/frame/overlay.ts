// The open overlay; only one at a time.

import { signal } from "@preact/signals";

export const overlay = signal<"palette" | "help" | null>(null);
