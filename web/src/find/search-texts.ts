// What Find searches by content: the messages of the agents used last, and the files of the user's home on the gateway.

import { makeVisible } from "../../../src/approval/visible.ts";
import { conversationPath, pendingJump } from "../chat/conversation-links.ts";
import { go } from "../frame/route.ts";
import { type Agent, agentName } from "../state/agents.ts";
import { call } from "../state/call.ts";
import { mayCall } from "../state/session.ts";
import type { Entry } from "./entries.ts";
import { formatWhen } from "../ui/format-time.ts";

/** Shorter words are in nearly every message. */
export const QUERY_CHARS_MIN = 3;
const MESSAGES_PER_AGENT = 8;
const FILES_MAX = 8;

export async function searchMessages(agents: readonly Agent[], query: string): Promise<Entry[]> {
  if (!mayCall("proc.history.search")) return [];
  const found = await Promise.allSettled(agents.map((agent) => searchAgent(agent, query)));
  return found
    .flatMap((part) => (part.status === "fulfilled" ? part.value : []))
    .toSorted((a, b) => b.at - a.at)
    .map(({ entry }) => entry);
}

async function searchAgent(agent: Agent, query: string): Promise<{ at: number; entry: Entry }[]> {
  const { pid } = agent;
  const { matches } = await call("proc.history.search", { pid, query, limit: MESSAGES_PER_AGENT });
  return matches.map(({ conversationId, messageId, offset, segmentId, snippet, timestamp, role }) => ({
    at: timestamp,
    entry: {
      id: `message ${pid} ${conversationId} ${segmentId ?? ""} ${messageId}`,
      title: role === "user" ? "You" : agentName(agent),
      group: "Messages",
      icon: "chat",
      hint: `${formatWhen(timestamp)}${segmentId === null ? "" : ", archived"}`,
      excerpt: makeVisible(snippet),
      open() {
        // An archived message has no position: show the start of the conversation, where the marker of the archive is.
        const to = offset === null ? { messageId: null, position: 0 } : { messageId, position: offset };
        pendingJump.value = { pid, conversationId, ...to };
        go(conversationPath(pid, conversationId));
      },
    },
  }));
}

/** One entry for each file, with the first line that has the words. */
export async function searchFiles(query: string): Promise<Entry[]> {
  if (!mayCall("fs.search")) return [];
  const result = await call("fs.search", { query, path: "~" });
  if (!result.ok) return [];
  const firstMatches = new Map<string, (typeof result.matches)[number]>();
  for (const match of result.matches) if (!firstMatches.has(match.path)) firstMatches.set(match.path, match);
  return [...firstMatches.values()].slice(0, FILES_MAX).map(({ path, line, content }) => ({
    id: `file ${path}`,
    title: makeVisible(path.slice(path.lastIndexOf("/") + 1)),
    group: "Files",
    icon: "file",
    hint: makeVisible(path),
    excerpt: makeVisible(`${line}: ${content.trim().slice(0, 200)}`),
    file: path,
  }));
}
