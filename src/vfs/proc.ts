// /proc: the running gateway. Processes appear here when there are some.

import { type Mount, synthetic } from "./mount.ts";

export function procMount(kernel: { version: string; uptimeMs(): number }): Mount {
  return synthetic("/proc", {
    async look(_who, names) {
      if (names.length === 0) return ["uptime", "version"];
      switch (names.join("/")) {
        case "version":
          return `GSV ${kernel.version}\n`;
        case "uptime":
          return `${(kernel.uptimeMs() / 1000).toFixed(2)}\n`;
        default:
          return null;
      }
    },
  });
}
