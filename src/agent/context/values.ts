// The values that templates may use.

import { deviceList, type ContextDevice } from "./devices.ts";
import { mcpServerList, type ContextMcpServer } from "./mcp-servers.ts";
import { toOneLine } from "./section.ts";

export type ContextIdentity = { uid: number; gid: number; username: string; home: string; cwd: string; workspaceId: string | null };

export type ContextFacts = {
  profile: string;
  identity: ContextIdentity;
  /** Those that are online and usable. */
  devices: readonly ContextDevice[];
  mcpServers: readonly ContextMcpServer[];
};

export function templateValues({ profile, identity, devices, mcpServers }: ContextFacts): Map<string, string> {
  const { uid, gid, username, home, cwd, workspaceId } = identity;
  const workspace = workspaceId === null ? "(none)" : `/workspaces/${toOneLine(workspaceId)}`;
  return new Map([
    ["profile", toOneLine(profile)],
    ["identity.uid", String(uid)],
    ["identity.gid", String(gid)],
    ["identity.username", toOneLine(username)],
    ["identity.home", toOneLine(home)],
    ["identity.cwd", toOneLine(cwd)],
    ["identity.workspaceId", toOneLine(workspaceId ?? "")],
    ["workspace", workspace],
    ["devices", deviceList(devices)],
    ["mcpServers", mcpServerList(mcpServers)],
    ["known_paths", KNOWN_PATHS],
  ]);
}

const KNOWN_PATHS = [
  "- ~/context.d: what you are told at the start of every run",
  "- ~/skills.d: how things are done",
  "- ~/knowledge: notes",
  "- /workspaces: work that outlives a process",
  "- /etc/docs, /etc/man: guides, and a page for every call",
  "- /sys: configuration, devices, users as files",
  "- /proc: processes",
].join("\n");
