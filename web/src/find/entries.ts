// What Find lists by name: actions, conversations, machines, schedules, MCP servers and settings. Read once when Find opens; a part
// that cannot be read is left out.

import type { IconName } from "../ui/icon.tsx";
import { makeVisible } from "../../../src/approval/visible.ts";
import { conversationName } from "../chat/conversation-names.ts";
import { conversationPath } from "../chat/conversation-links.ts";
import type { Action } from "../frame/actions.ts";
import { go, joinPath } from "../frame/route.ts";
import { type Agent, agentName } from "../state/agents.ts";
import { call } from "../state/call.ts";
import { mayCall, session } from "../state/session.ts";

export type Group = "Actions" | "Conversations" | "Messages" | "Machines" | "Schedules" | "Integrations" | "Settings" | "Files";

export type Entry = {
  id: string;
  title: string;
  group: Group;
  icon: IconName;
  /** Shown after the title: which agent, which machine. */
  hint?: string;
  /** The text in which the words were found. */
  excerpt?: string;
  keys?: string;
  /** Further words to be found by. */
  words?: string;
  /** One of the two: a file is shown in Find itself. */
  open?(): void;
  file?: string;
};

/** Agents whose conversations are listed and searched: those used last. */
const AGENTS_MAX = 12;

export function entryOfAction(action: Action): Entry {
  const { id, title, group, keys, words } = action;
  const isNamed = title.startsWith(group);
  return {
    id: `action ${id}`,
    title,
    group: "Actions",
    icon: "right",
    ...(isNamed ? {} : { hint: group }),
    ...(keys === undefined ? {} : { keys }),
    words: `${group} ${words ?? ""}`,
    open: () => action.run(),
  };
}

export async function readAgents(): Promise<readonly Agent[]> {
  if (!mayCall("proc.list")) return [];
  const uid = session.peek()?.identity.process.uid ?? -1;
  const { processes } = await call("proc.list", { uid });
  const lastUse = ({ lastActiveAt, createdAt }: Agent) => lastActiveAt ?? createdAt;
  return processes.toSorted((a, b) => lastUse(b) - lastUse(a)).slice(0, AGENTS_MAX);
}

/** Everything that has a name, except actions. */
export async function readEntries(agents: readonly Agent[]): Promise<Entry[]> {
  const parts = await Promise.allSettled([
    ...agents.map(readConversations),
    readMachines(),
    readSchedules(),
    readServers(),
    import("./settings-entries.ts").then(({ settingsEntries }) => settingsEntries()),
  ]);
  return parts.flatMap((part) => (part.status === "fulfilled" ? part.value : []));
}

async function readConversations(agent: Agent): Promise<Entry[]> {
  const { conversations } = await call("proc.conversation.list", { pid: agent.pid, includeClosed: true });
  return conversations
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .map((one) => ({
      id: `conversation ${agent.pid} ${one.id}`,
      title: makeVisible(conversationName(one)),
      group: "Conversations" as const,
      icon: "chat" as const,
      hint: agentName(agent),
      words: agentName(agent),
      open: () => go(conversationPath(agent.pid, one.id)),
    }));
}

async function readMachines(): Promise<Entry[]> {
  if (!mayCall("sys.device.list")) return [];
  const { devices } = await call("sys.device.list", { includeOffline: true });
  return devices.map(({ deviceId, online, platform, description }) => ({
    id: `machine ${deviceId}`,
    title: makeVisible(deviceId),
    group: "Machines",
    icon: "machine",
    hint: online ? "Online" : "Offline",
    words: makeVisible(`${platform} ${description ?? ""}`),
    open: () => go(joinPath("machines", "device", deviceId)),
  }));
}

async function readSchedules(): Promise<Entry[]> {
  if (!mayCall("sched.list")) return [];
  const { schedules } = await call("sched.list", { includeDisabled: true });
  return schedules.map(({ id, name, enabled }) => ({
    id: `schedule ${id}`,
    title: makeVisible(name),
    group: "Schedules",
    icon: "schedule",
    ...(enabled ? {} : { hint: "Paused" }),
    open: () => go(joinPath("schedules", id)),
  }));
}

async function readServers(): Promise<Entry[]> {
  if (!mayCall("sys.mcp.list")) return [];
  const { servers } = await call("sys.mcp.list", {});
  return servers.map(({ serverId, name }) => ({
    id: `server ${serverId}`,
    title: makeVisible(name),
    group: "Integrations",
    icon: "integration",
    hint: "MCP server",
    open: () => go(joinPath("integrations", "server", serverId)),
  }));
}
