// The open overlay; only one at a time.

import { signal } from "@preact/signals";

export const overlay = signal<"find" | "help" | "more" | "sign-in" | null>(null);
