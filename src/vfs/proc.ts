// /proc: the running gateway, and who is calling. Other processes appear here when there are some.

import { type Mount, synthetic, type Who } from "./mount.ts";

export function procMount(kernel: { version: string; uptimeMs(): number }): Mount {
  return synthetic("/proc", {
    async look(who, [top, ...rest]) {
      switch (top) {
        case undefined:
          return ["self", "uptime", "version"];
        case "self":
          return self(who, rest);
        case "version":
          return rest.length > 0 ? null : `GSV ${kernel.version}\n`;
        case "uptime":
          return rest.length > 0 ? null : `${(kernel.uptimeMs() / 1000).toFixed(2)}\n`;
        default:
          return null;
      }
    },
  });
}

function self(who: Who, names: readonly string[]): string | string[] | null {
  switch (names.join("/")) {
    case "":
      return ["identity", "status"];
    case "identity":
      return identity(who);
    case "status":
      return status(who);
    default:
      return null;
  }
}

function identity({ uid, gid, gids, username, home, cwd, workspaceId = null }: Who): string {
  return `${JSON.stringify({ uid, gid, gids, username, home, cwd, workspaceId }, null, 2)}\n`;
}

function status({ uid, gid, gids, pid = "" }: Who): string {
  const fields = { Name: pid, Pid: pid, PPid: "0", Profile: "none", State: "running", Uid: uid, Gid: gid, Groups: gids.join(" ") };
  return Object.entries(fields)
    .map(([name, value]) => `${name}:\t${value}\n`)
    .join("");
}
