// The present rights of a caller that may have disconnected: a command that outlives its socket has the rights that its user has at
// that moment, and none once the credential it was started with has ended.

import { isTokenLive } from "../../lib/token-end.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ReadContext } from "../context.ts";

export function withRefresh(reads: ReadContext, caller: Caller): Caller {
  const { credential, username, uid } = caller;
  const hash = reads.accounts.passwordHashOf(username);
  const isCredentialLive = () => {
    if (credential.kind === "process") return true;
    if (credential.kind === "password") return reads.accounts.passwordHashOf(username) === hash;
    const token = reads.tokens.get(credential.tokenId);
    return token !== undefined && isTokenLive(token, reads.now);
  };
  const refresh = (): Caller | undefined => {
    const connected = reads.connections.caller(caller.connectionId);
    if (connected !== undefined) return { ...connected, refresh };
    const account = reads.accounts.findByUid(uid);
    if (account === undefined || account.locked || !isCredentialLive()) return undefined;
    const process = reads.accounts.identityOf(account);
    return { ...caller, gids: process.gids, capabilities: reads.capabilities.listForGroups(process.gids), process, refresh };
  };
  return { ...caller, refresh };
}
