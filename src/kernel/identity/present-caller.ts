// Who a caller is by now, when it may have gone: a command that runs on after its socket has closed keeps the rights its
// user has at that moment, and none once what it came in with has ended.

import { isTokenLive } from "../../lib/token-end.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ReadContext } from "../context.ts";

export function withPresence(reads: ReadContext, caller: Caller): Caller {
  const { credential, username, uid } = caller;
  const hash = reads.accounts.hashOf(username);
  const stillHolds = () => {
    if (credential.kind === "process") return true;
    if (credential.kind === "password") return reads.accounts.hashOf(username) === hash;
    const token = reads.tokens.get(credential.tokenId);
    return token !== undefined && isTokenLive(token, reads.now);
  };
  const present = (): Caller | undefined => {
    const connected = reads.connections.caller(caller.connectionId);
    if (connected !== undefined) return { ...connected, present };
    const account = reads.accounts.byUid(uid);
    if (account === undefined || account.locked || !stillHolds()) return undefined;
    const process = reads.accounts.identity(account);
    return { ...caller, gids: process.gids, capabilities: reads.capabilities.of(process.gids), process, present };
  };
  return { ...caller, present };
}
