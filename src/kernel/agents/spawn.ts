// Makes the rows of new processes: a user's init, and children of an existing process, which get the identity of their parent.

import { fail } from "../../lib/sys-error.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ContextFile } from "../../protocol/proc-records.ts";
import type { WorkspaceSpec } from "../../protocol/workspace-spec.ts";
import type { WriteContext } from "../context.ts";
import { initPidOf, type ProcessRow } from "../nouns/processes.ts";

export type SpawnArgs = {
  profile: string;
  label?: string | undefined;
  prompt?: string | undefined;
  assignment?: { contextFiles: ContextFile[]; autoStart?: boolean | undefined } | undefined;
  parentPid?: string | undefined;
  workspace?: WorkspaceSpec | undefined;
};

const MAX_PER_USER_KEY = "config/process/max_per_user";
const PROCESSES_MAX = 10_000;

export function makeChild(nouns: WriteContext, caller: Caller, parent: ProcessRow, pid: string, args: SpawnArgs): ProcessRow {
  const { profile, label, assignment, workspace } = args;
  const { processes, config, now } = nouns;
  const max = Number(config.get(MAX_PER_USER_KEY)) || PROCESSES_MAX;
  if (processes.countOf(parent.uid) >= max) fail(429, `Too many processes: at most ${max} per user (${MAX_PER_USER_KEY})`);
  const location = resolveWorkspace(nouns, caller, parent, workspace, label);
  const { uid, username, home } = parent;
  const details = { profile, parentPid: parent.pid, label: label?.trim() || null, contextFiles: assignment?.contextFiles ?? [] };
  return processes.make({ pid, uid, username, home, ...details, ...location }, now);
}

/** Makes the long-lived process of a user. */
export function makeInit(
  { processes, now }: WriteContext,
  { uid, username, home }: Caller["process"],
  contextFiles: readonly ContextFile[] = [],
): ProcessRow {
  const details = { profile: "init", parentPid: null, label: `init (${username})`, workspaceId: null, contextFiles: [...contextFiles] };
  return processes.make({ pid: initPidOf(uid), uid, username, home, cwd: home, ...details }, now);
}

function resolveWorkspace(
  { workspaces, repositories, now }: WriteContext,
  caller: Caller,
  parent: ProcessRow,
  spec: WorkspaceSpec | undefined,
  label: string | undefined,
): Pick<ProcessRow, "workspaceId" | "cwd"> {
  const wanted = spec ?? (parent.workspaceId === null ? { mode: "none" as const } : { mode: "inherit" as const });
  switch (wanted.mode) {
    case "none":
      return { workspaceId: null, cwd: parent.home };
    case "inherit":
      return { workspaceId: parent.workspaceId, cwd: parent.workspaceId === null ? parent.home : parent.cwd };
    case "attach": {
      const { workspaceId } = workspaces.requireUsable(caller, wanted.workspaceId);
      workspaces.touch(workspaceId, now);
      return { workspaceId, cwd: `/workspaces/${workspaceId}` };
    }
    case "new": {
      const { workspaceId } = workspaces.make(parent.uid, wanted.label ?? label ?? null, wanted.kind ?? "thread", now);
      repositories.makeWorkspace(parent.username, workspaceId, now);
      return { workspaceId, cwd: `/workspaces/${workspaceId}` };
    }
  }
}
