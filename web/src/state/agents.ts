// The agent processes of whoever is logged in, and what each is doing. One list for the whole page: read again when a
// process tells something that changes it, after every reconnection, and now and then, because a connection is not told
// everything about processes it does not follow.

import { computed, effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { SignalName } from "../../../src/client/client.ts";
import { HIL_REQUESTED, PROC_CHANGED, RUN_FINISHED, RUN_STARTED, TOOL_FINISHED, TOOL_STARTED } from "../../../src/protocol/signal-names.ts";
import { call, type Result, sentence } from "./call.ts";
import { Latest } from "./latest.ts";
import { client, connected, session } from "./session.ts";

export type Agent = Result<"proc.list">["processes"][number];

const EVERY_MS = 10_000;
const TELLS: ReadonlySet<SignalName> = new Set([RUN_STARTED, RUN_FINISHED, HIL_REQUESTED, TOOL_STARTED, TOOL_FINISHED]);

const list = new Latest<Agent[]>(async () => (await call("proc.list", { uid: ownUid() })).processes, sentence);
const users = signal(0);

export const agents = list;

/** Those that were used last first; the one that is always there before all others. */
export const agentsInOrder = computed<readonly Agent[] | null>(() => {
  const all = list.value.value;
  if (all === null) return null;
  const usedAt = ({ lastActiveAt, createdAt }: Agent) => lastActiveAt ?? createdAt;
  return all.toSorted((one, other) => Number(other.profile === "init") - Number(one.profile === "init") || usedAt(other) - usedAt(one));
});

export function agentOf(pid: string): Agent | null {
  return list.value.value?.find((agent) => agent.pid === pid) ?? null;
}

/** What people call it. */
export function agentName({ label, profile, pid }: Pick<Agent, "label" | "profile" | "pid">): string {
  if (profile === "init") return "Personal agent";
  return makeVisible(label?.trim() ?? "") || `${makeVisible(profile)} ${pid.slice(0, 6)}`;
}

/** For components that show something of it. */
export function useAgents(): void {
  useEffect(() => {
    users.value += 1;
    return () => {
      users.value -= 1;
    };
  }, []);
}

function ownUid(): number {
  return session.peek()?.identity.process.uid ?? -1;
}

effect(() => {
  if (users.value === 0 || connected.value === 0) return;
  void list.refetch();
  const stop = client.value?.onSignal(({ signal: name, payload }) => {
    const isQueue = name === PROC_CHANGED && (payload.changes.includes("queue") || payload.changes.includes("lifecycle"));
    if (TELLS.has(name) || isQueue) void list.refetch();
  });
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") void list.refetch();
  }, EVERY_MS);
  return () => {
    stop?.();
    clearInterval(timer);
  };
});
