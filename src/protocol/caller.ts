// Who is calling: a value made by the kernel from its own tables and passed along, never ambient and never taken from
// what the peer claims.

import type { ConnectionIdentity, ProcessIdentity, Role } from "./records.ts";

/** Kinds of callers a syscall may admit. A stranger is a socket that has not said who it is. */
export type Origin = "stranger" | Role;

export type Credential = { kind: "password" } | { kind: "token"; tokenId: string; expiresAt: number | null };

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
  /** For what outlives the connection it came by: the same caller with the rights of this moment, if it still has any. */
  present?: () => Caller | undefined;
};

export const ROOT_UID = 0;

export function isRoot(caller: { uid: number }): boolean {
  return caller.uid === ROOT_UID;
}
