// Who is calling: a value made by the kernel from its own tables and passed along, never ambient and never taken from
// what the peer claims.

import type { ConnectionIdentity, ProcessIdentity, Role } from "./records.ts";

/** Kinds of callers a syscall may admit. A stranger is a socket that has not said who it is. */
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
  /** Set where it is an agent's own call, or one of a command it runs: what it may do is judged by its policy (kernel/agents/judge.ts). */
  agent?: AgentCall;
  /** For what outlives the connection it came by: the same caller with the rights of this moment, if it still has any. */
  present?: () => Caller | undefined;
};

/** Whose call it is, and how far a person has allowed it. */
export type AgentCall = {
  pid: string;
  profile: string;
  runId: string | null;
  conversationId: string | null;
  /** The call of the model's that this is or is part of; null where a command of the process makes it. */
  callId: string | null;
  toolName: string | null;
  /** Told when nobody has to be asked any more and it is carried out. */
  began?: () => void;
  /** It is the very call that was allowed before, sent again: its key, or that nothing had been done, makes it one. */
  isAgain?: true;
  /** Of a call that is allowed to run: what holds for everything it does. */
  allows?: Allowance;
  /** Set inside such a call, as for what a command does: nobody can be asked there. */
  within?: Allowance;
};

/**
 * `approved` holds the tags of the call where a person has seen and allowed it, or null where it runs because nothing about
 * it had to be asked; `mayConnect`, whether it may use the network; `isUnseen`, that a person has allowed it by a yes to another
 * call like it, and knows of it no more than its tags.
 */
export type Allowance = { approved: readonly string[] | null; mayConnect: boolean; isUnseen?: true };

/** The caller of what a call does in turn. */
export function inside(caller: Caller): Caller {
  if (caller.agent === undefined) return caller;
  const { allows, within, began: _, ...agent } = caller.agent;
  return { ...caller, agent: { ...agent, callId: null, within: within ?? allows ?? { approved: null, mayConnect: false } } };
}

export const ROOT_UID = 0;

export function isRoot(caller: { uid: number }): boolean {
  return caller.uid === ROOT_UID;
}
