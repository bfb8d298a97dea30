// Signals the gateway sends on its own account, and which roles are told of them at sys.connect.

import type { Role } from "./records.ts";

export const SIGNALS: Record<string, { to: readonly Role[]; doc: string }> = {
  "device.status": { to: ["user", "driver"], doc: "A device connected or disconnected. Sent to the connections of those who may use it." },
};

export function signalsFor(role: Role): string[] {
  return Object.keys(SIGNALS).filter((name) => SIGNALS[name]!.to.includes(role));
}
