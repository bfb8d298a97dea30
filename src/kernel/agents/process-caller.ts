// Makes callers for the gate: a process, which is its user with their present rights, marked as an agent; the owner of a process, as
// whom the kernel writes its files and ends its commands; a user for whom a schedule runs; and the kernel itself, for what only it may do.

import { fail } from "../../lib/sys-error.ts";
import { type Caller, ROOT_UID } from "../../protocol/caller.ts";
import type { Account } from "../../protocol/records.ts";
import type { ReadContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";

export type CallOfProcess = { runId: string; conversationId: string; callId: string; tool: string };

/** The caller for a process; for null, the kernel itself. */
export function makeProcessCaller(reads: ReadContext, process: ProcessRow | null, call?: CallOfProcess): Caller {
  const present = (): Caller | undefined => makeCaller(reads, process, call, present);
  return present() ?? fail(403, LOCKED);
}

/** A user who is not connected, for what the kernel does at a time that they have chosen. */
export function makeUserCaller(reads: ReadContext, uid: number): Caller {
  const present = (): Caller | undefined => {
    const account = reads.accounts.findByUid(uid);
    return account === undefined || account.locked ? undefined : buildCaller(reads, account, null, undefined, present);
  };
  return present() ?? fail(403, "Permission denied: the owner is locked");
}

/** The owner of a process, locked or not: archives are written as the owner, and root can end the commands of a locked user. */
export function makeOwnerCaller(reads: ReadContext, process: ProcessRow): Caller {
  const present = (): Caller | undefined => makeCaller(reads, process, undefined, present, true);
  const { agent: _, ...owner } = present() ?? fail(403, LOCKED);
  return owner;
}

const LOCKED = "Permission denied: the owner of this process is locked";

function makeCaller(
  reads: ReadContext,
  process: ProcessRow | null,
  call: CallOfProcess | undefined,
  refresh: () => Caller | undefined,
  mayBeLocked = false,
): Caller | undefined {
  const account = reads.accounts.findByUid(process?.uid ?? ROOT_UID);
  // Root is locked on most gateways, which stops people from logging in as root but not the kernel.
  if (account === undefined || (process !== null && account.locked && !mayBeLocked)) return undefined;
  return buildCaller(reads, account, process, call, refresh);
}

function buildCaller(
  reads: ReadContext,
  account: Account,
  process: ProcessRow | null,
  call: CallOfProcess | undefined,
  refresh: () => Caller | undefined,
): Caller {
  const own = reads.accounts.identityOf(account);
  const identity = process === null ? own : { ...own, cwd: process.cwd, workspaceId: process.workspaceId };
  const capabilities = reads.capabilities.listForGroups(own.gids);
  return {
    origin: "user",
    uid: identity.uid,
    gids: identity.gids,
    username: identity.username,
    capabilities,
    connectionId: process === null ? "kernel" : `proc:${process.pid}`,
    address: "process",
    credential: { kind: "process" },
    process: identity,
    identity: { role: "user", process: identity, capabilities },
    refresh,
    ...(process === null
      ? {}
      : {
          agent: {
            pid: process.pid,
            profile: process.profile,
            runId: call?.runId ?? null,
            conversationId: call?.conversationId ?? null,
            callId: call?.callId ?? null,
            toolName: call?.tool ?? null,
          },
        }),
  };
}
