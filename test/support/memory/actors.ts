// Repositories in the test's own process, each over an in-memory database that commits at once, and the processes a test passes in.

import { actorsOf, type Processes } from "../../../src/hosts/shared/actors.ts";
import { fail } from "../../../src/lib/sys-error.ts";
import type { ActorHttp, ActorRequest, ActorResponse, Actors } from "../../../src/ports/actors.ts";
import { RepositoryActor } from "../../../src/repo/actor.ts";
import { MemorySql } from "./sql.ts";

const NO_PROCESSES: Processes = { call: async () => fail(503, "There are no processes here") };

export class MemoryActors implements Actors {
  readonly #actors = new Map<string, RepositoryActor>();
  readonly #all: Actors;

  constructor(processes: Processes = NO_PROCESSES) {
    this.#all = actorsOf(
      {
        call: (address, name, args, http) => this.#actor(address).call(name, structuredClone(args), http),
        fetch: (address, request) => this.#actor(address).fetch(request),
      },
      processes,
    );
  }

  call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown> {
    return this.#all.call(address, name, args, http);
  }

  fetch(address: string, request: ActorRequest): Promise<ActorResponse> {
    return this.#all.fetch(address, request);
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
