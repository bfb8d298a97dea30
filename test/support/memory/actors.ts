// Repositories in the test's own process, each over a database in memory that commits at once.

import type { ActorHttp, ActorRequest, ActorResponse, Actors } from "../../../src/ports/actors.ts";
import { RepositoryActor } from "../../../src/repo/actor.ts";
import { MemorySql } from "./sql.ts";

export class MemoryActors implements Actors {
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
