// A repository as an actor: named calls and git's smart HTTP over one database. The host delivers messages and returns
// the answers. Neither the host nor this actor authorizes the caller; the kernel has done that before.

import { fail, SysError } from "../lib/sys-error.ts";
import type { ActorHttp, ActorRequest, ActorResponse } from "../ports/actors.ts";
import { type Sql, StorageError } from "../ports/sql.ts";
import { type ByteStream, toByteStream } from "./byte-reader.ts";
import { type RepoCall, repoCalls, readRepoState } from "./calls.ts";
import type { Quota } from "./objects.ts";
import type { HttpFetch } from "./remote.ts";
import { Repository } from "./repository.ts";
import { serveGit } from "./serve.ts";

export class RepositoryActor {
  readonly #sql: Sql;
  #repository: Promise<Repository> | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async call(name: string, args: object, http?: ActorHttp): Promise<unknown> {
    if (!Object.hasOwn(repoCalls, name)) throw new Error(`a repository has no call ${name}`);
    const body = repoCalls[name as RepoCall];
    const { quota, ...rest } = args as { quota?: Quota | null };
    const repository = await this.#open();
    if (quota !== undefined) repository.store.objects.setQuota(quota);
    const value = await body(repository, rest as never, toHttpFetch(http));
    // Reads wait too: they may have seen rows that are not on disk yet.
    await this.#sql.waitUntilDurable();
    return value;
  }

  async fetch(request: ActorRequest): Promise<ActorResponse> {
    const repository = await this.#open();
    const { method, path, query, headers, body, access } = request;
    if (access.quota !== undefined) repository.store.objects.setQuota(access.quota);
    await this.#sql.waitUntilDurable();
    const gitRequest = { method, path, query: new URLSearchParams(query), headers: new Headers(headers) };
    const stream = body === null ? null : toByteStream(mapStreamErrors(body, "The request was interrupted"));
    const answer = await serveGit(repository, { ...gitRequest, body: stream }, access);
    const changed = answer.moved.length === 0 ? null : readRepoState(repository);
    return { status: answer.status, headers: answer.headers, body: answer.body, changed };
  }

  /** The tables are on disk before the first call runs: if they were lost with a batch, nothing would create them again. */
  #open(): Promise<Repository> {
    this.#repository ??= this.#create().catch((error: unknown) => {
      this.#repository = undefined;
      throw error;
    });
    return this.#repository;
  }

  async #create(): Promise<Repository> {
    const repository = new Repository(this.#sql);
    await this.#sql.waitUntilDurable();
    return repository;
  }
}

function toHttpFetch(http: ActorHttp | undefined): HttpFetch {
  return async (url, request) => {
    if (http === undefined) fail(503, "This call may not use the network");
    const { status, headers, body, url: from } = await http(url, request);
    return {
      status,
      headers: new Headers(headers),
      body: toByteStream(mapStreamErrors(body, "The remote's answer was interrupted")),
      url: from,
    };
  };
}

/** An error while the body streams comes from the peer or the network (503), even if it lost its class on the way here. */
async function* mapStreamErrors(body: ByteStream, what: string): AsyncGenerator<Uint8Array> {
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
