// The hardware calls that change nothing, and may therefore be sent again.

import { hardwareCalls } from "./table.ts";

export const HARDWARE_READS: ReadonlySet<string> = new Set(hardwareCalls.filter(({ does }) => does === "read").map(({ name }) => name));
