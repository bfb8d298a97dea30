// Signals the gateway sends on its own account, and which roles are told of them at sys.connect.

import type { Role } from "./records.ts";

export const SIGNALS: Record<string, { to: readonly Role[]; doc: string }> = {
  body: {
    to: ["user", "driver"],
    doc: "Something of a body that is under way: how large it is, how much of it is wanted, that it has ended.",
  },
  "copy.progress": { to: ["user"], doc: "How far an fs.copy is that was given a name for its progress." },
  "device.status": { to: ["user", "driver"], doc: "A device connected or disconnected. Sent to the connections of those who may use it." },
  "exec.status": {
    to: ["user"],
    doc: "A command on a device that outlived the call it was started by has begun or ended. Sent to the connections of the user who started it.",
  },
};

export function signalsFor(role: Role): string[] {
  return Object.keys(SIGNALS).filter((name) => SIGNALS[name]!.to.includes(role));
}
