// Who hears of what a process does. Those who follow it hear everything, numbered; so does the connection a run was started
// from, and where that is gone or there is none, every connection of the owner.

import type { Sockets } from "../../ports/sockets.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import type { Connections } from "../nouns/connections.ts";
import type { Followers } from "../nouns/followers.ts";
import type { ProcessRow } from "../nouns/processes.ts";

type Means = {
  sockets: Pick<Sockets, "send">;
  followers: Followers;
  connections: Connections;
  reads: Pick<ReadContext, "now">;
  relaxed: <T>(body: (nouns: WriteContext) => T) => T;
};

export class ProcessSignals {
  readonly #means: Means;

  constructor(means: Means) {
    this.#means = means;
  }

  /** `seq` of what is numbered; pieces of an answer are not. */
  send({ pid, uid }: Pick<ProcessRow, "pid" | "uid">, signal: string, payload: Record<string, unknown>, seq?: number): void {
    const to = this.#recipients(pid, uid, typeof payload.runId === "string" ? payload.runId : null);
    if (to.size === 0) return;
    const text = JSON.stringify({ type: "sig", signal, payload, ...(seq === undefined ? {} : { seq }) });
    for (const connectionId of to) this.#means.sockets.send(connectionId, text);
  }

  #recipients(pid: string, uid: number, runId: string | null): Set<string> {
    const { followers, connections, reads } = this.#means;
    const to = new Set(followers.of(pid));
    const route = runId === null ? undefined : followers.routeOf(pid, runId, reads.now);
    if (route !== undefined && route.uid !== uid && route.uid !== 0) {
      this.#means.relaxed(({ followers }) => followers.runEnded(pid, runId!));
      return to;
    }
    if (route !== undefined && connections.caller(route.connectionId) !== undefined) return to.add(route.connectionId);
    for (const connectionId of connections.ofUser(uid, "user")) to.add(connectionId);
    return to;
  }
}
