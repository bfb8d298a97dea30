// The agent processes of the logged-in user and their states. One list for the whole page. It is refetched on signals that
// change it, after every reconnect, and by polling, because a connection does not receive every signal of a process that it
// does not follow.

import { computed, effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { SignalName } from "../../../src/client/client.ts";
import { nameOfAgent } from "../../../src/lib/agent-names.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_FINISHED, RUN_STARTED, TOOL_FINISHED, TOOL_STARTED } from "../../../src/protocol/signal-names.ts";
import { call, describeError, type Result } from "./call.ts";
import { Latest } from "./latest.ts";
import { client, connectionCount, session } from "./session.ts";

export type Agent = Result<"proc.list">["processes"][number];

const POLL_MS = 10_000;
const REFETCH_SIGNALS: ReadonlySet<SignalName> = new Set([RUN_STARTED, RUN_FINISHED, HIL_REQUESTED, TOOL_STARTED, TOOL_FINISHED]);

const list = new Latest<Agent[]>(async () => (await call("proc.list", { uid: ownUid() })).processes, describeError);
const viewers = signal(0);

export const agents = list;

/** The personal agent first, then by last use, newest first. */
export const sortedAgents = computed<readonly Agent[] | null>(() => {
  const all = list.value.value;
  if (all === null) return null;
  const lastUseOf = ({ lastActiveAt, createdAt }: Agent) => lastActiveAt ?? createdAt;
  return all.toSorted(
    (one, other) => Number(other.profile === "init") - Number(one.profile === "init") || lastUseOf(other) - lastUseOf(one),
  );
});

export function findAgent(pid: string): Agent | null {
  return list.value.value?.find((agent) => agent.pid === pid) ?? null;
}

/** The name shown to people. */
export function agentName(agent: Pick<Agent, "label" | "profile" | "pid">): string {
  return nameOfAgent(agent, makeVisible);
}

/** For components that show agents: the list is kept up to date while at least one of them is mounted. */
export function useAgentUpdates(): void {
  useEffect(() => {
    viewers.value += 1;
    return () => {
      viewers.value -= 1;
    };
  }, []);
}

function ownUid(): number {
  return session.peek()?.identity.process.uid ?? -1;
}

effect(() => {
  if (viewers.value === 0 || connectionCount.value === 0) return;
  void list.refetch();
  const stop = client.value?.onSignal(({ signal: name, payload }) => {
    const isQueue = name === PROC_CHANGED && (payload.changes.includes("queue") || payload.changes.includes("lifecycle"));
    if (REFETCH_SIGNALS.has(name) || isQueue) void list.refetch();
  });
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void list.refetch();
  }, POLL_MS);
  return () => {
    stop?.();
    clearInterval(timer);
  };
});
