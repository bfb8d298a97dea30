// The caller: a value that the kernel builds from its own tables and passes along, never ambient state and never the peer's
// claim.

import type { ConnectionIdentity, ProcessIdentity, Role } from "./records.ts";

/** The kinds of callers that a syscall may admit. A stranger is a socket that has not authenticated. */
export type Origin = "stranger" | Role;

export type Credential = { kind: "password" } | { kind: "process" } | { kind: "token"; tokenId: string; expiresAt: number | null };

export type Stranger = { origin: "stranger"; connectionId: string; address: string };

export type Caller = {
  origin: Role;
  uid: number;
  gids: readonly number[];
  username: string;
  capabilities: readonly string[];
  connectionId: string;
  address: string;
  credential: Credential;
  process: ProcessIdentity;
  identity: ConnectionIdentity;
  /**
   * Set for a call by an agent or by a command that it runs: the agent's policy decides what it may do (kernel/agents/judge.ts).
   */
  agent?: AgentCall;
  /** For work that outlives its connection: returns the same caller with its current rights, or undefined if it has none left. */
  refresh?: () => Caller | undefined;
};

/** Which agent makes the call, and what a person has allowed. */
export type AgentCall = {
  pid: string;
  profile: string;
  runId: string | null;
  conversationId: string | null;
  /** The model's call that this is, or is part of; null if a command of the process makes it. */
  callId: string | null;
  toolName: string | null;
  /** Called when no further approval is needed and the call starts. */
  onStart?: () => void;
  /** The call was allowed before and is sent again: its key, or the fact that nothing was done, makes both the same call. */
  isRepeat?: true;
  /** For a call that may run: what applies to everything it does. */
  allows?: Allowance;
  /** Set inside such a call, such as for what a command does: nobody can be asked there. */
  within?: Allowance;
};

/**
 * `approved` has the tags of the call if a person saw and approved it, or null if it runs without approval; `mayConnect` says
 * whether it may use the network; `isUnseen` means that an approval of a similar call covers it, so that the person knows only
 * its tags.
 */
export type Allowance = { approved: readonly string[] | null; mayConnect: boolean; isUnseen?: true };

/** The caller for calls that this call makes itself. */
export function nestedCaller(caller: Caller): Caller {
  if (caller.agent === undefined) return caller;
  const { allows, within, onStart: _, ...agent } = caller.agent;
  return { ...caller, agent: { ...agent, callId: null, within: within ?? allows ?? { approved: null, mayConnect: false } } };
}

export const ROOT_UID = 0;

export function isRoot(caller: { uid: number }): boolean {
  return caller.uid === ROOT_UID;
}
