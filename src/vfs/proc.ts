// /proc: the running gateway, the caller and the agent processes as files: the identity and owner of each process, its usage and
// its initial context. Processes of other users are visible only to root.

import type { ContextFile } from "../protocol/proc-records.ts";
import { type Mount, makeSyntheticMount, type Who } from "./mount.ts";

export type ProcProcess = {
  pid: string;
  parentPid: string | null;
  profile: string;
  label: string | null;
  state: string;
  uid: number;
  gid: number;
  gids: readonly number[];
  username: string;
  home: string;
  cwd: string;
  workspaceId: string | null;
  contextFiles: readonly ContextFile[];
};

type ProcSources = {
  version: string;
  uptimeMs(): number;
  /** The processes that this caller may see. */
  listVisiblePids(who: Who): readonly string[];
  findVisibleProcess(who: Who, pid: string): ProcProcess | null;
  quota(uid: number): { usedBytes: number; limitBytes: number };
};

const ENTRIES = ["context.d", "identity", "status", "usage"];
const CALLER_ENTRIES = ["identity", "status"];

export function makeProcMount(kernel: ProcSources): Mount {
  return makeSyntheticMount("/proc", {
    async lookUp(who, [top, ...rest]) {
      switch (top) {
        case undefined:
          return [...kernel.listVisiblePids(who).map((name) => ({ name, kind: "directory" as const })), "self", "uptime", "version"];
        case "self": {
          // A person at a prompt has no process, but does have an identity.
          const process = kernel.findVisibleProcess(who, who.pid ?? "");
          if (rest.join("/") === "quota") return formatQuota(kernel.quota(who.uid));
          if (rest.length === 0) return [...(process === null ? CALLER_ENTRIES : ENTRIES), "quota"];
          return process === null ? readCallerFile(who, rest) : readProcessFile(who, process, rest);
        }
        case "version":
          return rest.length > 0 ? null : `GSV ${kernel.version}\n`;
        case "uptime":
          return rest.length > 0 ? null : `${(kernel.uptimeMs() / 1000).toFixed(2)}\n`;
        default: {
          const process = kernel.findVisibleProcess(who, top);
          return process === null ? null : readProcessFile(who, process, rest);
        }
      }
    },
  });
}

async function readProcessFile(
  who: Who,
  process: ProcProcess,
  [top, name, ...deeper]: readonly string[],
): Promise<string | readonly string[] | null> {
  if (top === undefined) return ENTRIES;
  if (top === "context.d") {
    // A name with a slash cannot be a file here; proc.context shows it anyway.
    if (name === undefined) return process.contextFiles.flatMap((file) => (file.name.includes("/") ? [] : [file.name]));
    return deeper.length > 0 ? null : (process.contextFiles.find((file) => file.name === name)?.text ?? null);
  }
  if (name !== undefined) return null;
  switch (top) {
    case "identity":
      return formatIdentity(process);
    case "status":
      return formatStatus({ ...process, name: process.label ?? process.pid, parent: process.parentPid ?? "0" });
    case "usage":
      return readUsage(who, process.pid);
    default:
      return null;
  }
}

function readCallerFile(who: Who, names: readonly string[]): string | null {
  const { pid = "", workspaceId = null } = who;
  switch (names.join("/")) {
    case "identity":
      return formatIdentity({ ...who, profile: "none", workspaceId });
    case "status":
      return formatStatus({ ...who, pid, name: pid, parent: "0", profile: "none", state: "running" });
    default:
      return null;
  }
}

type Identity = Pick<ProcProcess, "uid" | "gid" | "gids" | "username" | "profile" | "home" | "cwd" | "workspaceId">;

function formatIdentity({ uid, gid, gids, username, profile, home, cwd, workspaceId }: Identity): string {
  return `${JSON.stringify({ uid, gid, gids, username, profile, home, cwd, workspaceId }, null, 2)}\n`;
}

/** How many bytes the caller stores, and how many they may store. */
function formatQuota({ usedBytes, limitBytes }: ReturnType<ProcSources["quota"]>): string {
  return `${usedBytes} ${limitBytes === Infinity ? "unlimited" : limitBytes}\n`;
}

type Status = Pick<ProcProcess, "pid" | "profile" | "state" | "uid" | "gid" | "gids"> & { name: string; parent: string };

function formatStatus({ name, pid, parent, profile, state, uid, gid, gids }: Status): string {
  const fields = { Name: name, Pid: pid, PPid: parent, Profile: profile, State: state, Uid: uid, Gid: gid, Groups: gids.join(" ") };
  return Object.entries(fields)
    .map(([name, value]) => `${name}:\t${String(value).replaceAll(/[\t\n]/g, " ")}\n`)
    .join("");
}

/** Goes through the gate as proc.usage, which asks the process. */
async function readUsage(who: Who, pid: string): Promise<string> {
  const { spent, activeRun } = (await who.runSyscall("proc.usage", { pid })) as Record<string, unknown>;
  return `${JSON.stringify({ spent, activeRun }, null, 2)}\n`;
}
