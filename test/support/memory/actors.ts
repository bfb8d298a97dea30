// Repositories in the test's own process, each over an in-memory database that commits at once.

import { fail } from "../../../src/lib/sys-error.ts";
import type { ActorHttp, ActorRequest, ActorResponse, ProcessActors, RepositoryActors } from "../../../src/ports/actors.ts";
import { RepositoryActor } from "../../../src/repo/actor.ts";
import { MemorySql } from "./sql.ts";

/** For tests without processes. */
export const NO_PROCESSES: ProcessActors = { call: async () => fail(503, "There are no processes here") };

export class MemoryRepositories implements RepositoryActors {
  readonly #actors = new Map<string, RepositoryActor>();

  call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown> {
    return this.#actor(address).call(name, structuredClone(args), http);
  }

  fetch(address: string, request: ActorRequest): Promise<ActorResponse> {
    return this.#actor(address).fetch(request);
  }

  #actor(address: string): RepositoryActor {
    let actor = this.#actors.get(address);
    if (actor === undefined) {
      const sql: MemorySql = new MemorySql((batch) => queueMicrotask(() => batch === "open" && sql.commit()));
      actor = new RepositoryActor(sql);
      this.#actors.set(address, actor);
    }
    return actor;
  }
}
