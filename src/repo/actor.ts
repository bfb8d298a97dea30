// A repository as an actor: named calls and git's smart HTTP over one database. The host brings messages here and carries
// the answers back; it decides nothing, and neither does this decide who may ask.

import { fail, SysError } from "../lib/sys-error.ts";
import type { ActorHttp, ActorRequest, ActorResponse } from "../ports/actors.ts";
import { type Sql, StorageError } from "../ports/sql.ts";
import { type ByteStream, streamOf } from "./byte-reader.ts";
import { type RepoCall, repoCalls, stateOf } from "./calls.ts";
import type { Quota } from "./objects.ts";
import type { HttpFetch } from "./remote.ts";
import { Repository } from "./repository.ts";
import { serveGit } from "./serve.ts";

export class RepositoryActor {
  readonly #sql: Sql;
  #opening: Promise<Repository> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async call(name: string, args: object, http?: ActorHttp): Promise<unknown> {
    if (!Object.hasOwn(repoCalls, name)) throw new Error(`a repository has no call ${name}`);
    const body = repoCalls[name as RepoCall];
    const { quota, ...rest } = args as { quota?: Quota | null };
    const repository = await this.#open();
    if (quota !== undefined) repository.store.objects.allow(quota);
    const value = await body(repository, rest as never, carriedBy(http));
    // Reads too: they may have seen what is not on disk yet.
    await this.#sql.durable();
    return value;
  }

  async fetch(request: ActorRequest): Promise<ActorResponse> {
    const repository = await this.#open();
    const { method, path, query, headers, body, access } = request;
    if (access.quota !== undefined) repository.store.objects.allow(access.quota);
    await this.#sql.durable();
    const asked = { method, path, query: new URLSearchParams(query), headers: new Headers(headers) };
    const whole = body === null ? null : streamOf(known(body, "The request broke off"));
    const answer = await serveGit(repository, { ...asked, body: whole }, access);
    const changed = answer.moved.length === 0 ? null : stateOf(repository);
    return { status: answer.status, headers: answer.headers, body: answer.body, changed };
  }

  /** Its tables are on disk before anything is asked of it: were they lost with a batch, nothing would make them again. */
  #open(): Promise<Repository> {
    this.#opening ??= this.#make().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #make(): Promise<Repository> {
    const repository = new Repository(this.#sql);
    await this.#sql.durable();
    return repository;
  }
}

function carriedBy(http: ActorHttp | undefined): HttpFetch {
  return async (url, request) => {
    if (http === undefined) fail(503, "This call was given no way out");
    const { status, headers, body, url: from } = await http(url, request);
    return { status, headers: new Headers(headers), body: streamOf(known(body, "The remote's answer broke off")), url: from };
  };
}

/** What breaks on the way is the other side's or the network's doing, whatever class it lost on the way here. */
async function* known(body: ByteStream, what: string): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        if (error instanceof SysError || error instanceof StorageError) throw error;
        fail(503, `${what}: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
