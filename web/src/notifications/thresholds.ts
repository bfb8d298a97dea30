// The levels that people choose from, in words.

import type { Threshold } from "../../../src/protocol/push-records.ts";

export const THRESHOLDS: readonly { value: Threshold; label: string }[] = [
  { value: "all", label: "All" },
  { value: "warning", label: "Warnings and errors" },
  { value: "error", label: "Errors only" },
  { value: "never", label: "None" },
];
