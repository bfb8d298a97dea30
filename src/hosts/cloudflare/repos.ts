// The Actors port: each repository is its own Durable Object. Only the kernel's object can reach one, after it has checked the
// caller's rights; the Worker has no route to them.

import { DurableObject } from "cloudflare:workers";
import { SysError } from "../../lib/sys-error.ts";
import type { ActorHttp, ActorHttpRequest, ActorRequest, ActorResponse, RepositoryActors } from "../../ports/actors.ts";
import { errorOf, type Failure, failureOf, type Reply, replyOf, unwrapReply } from "../../ports/reply.ts";
import { RepositoryActor } from "../../repo/actor.ts";
import type { Env } from "./options.ts";
import { CloudflareSql } from "./sql.ts";

/** The part of the namespace the kernel uses: the platform's own type cannot describe values it does not know. */
export type RepoNamespace = { getByName(name: string): RepoStub };

type RepoStub = {
  call(name: string, args: object, http: RemoteHttp | null): Promise<Reply>;
  fetch(request: Request): Promise<Response>;
};

/** Passed as an argument of a remote call; calling it runs it in the kernel's object. */
type RemoteHttp = (url: string, request: ActorHttpRequest) => Promise<Reply>;

const ACCESS = "x-gsv-access";
const CHANGED = "x-gsv-changed";
const FAILURE = "x-gsv-failure";

export class RepoObject extends DurableObject<Env> {
  readonly #actor: RepositoryActor;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#actor = new RepositoryActor(new CloudflareSql(state.storage));
  }

  call(name: string, args: object, http: RemoteHttp | null): Promise<Reply> {
    const actorHttp: ActorHttp | undefined =
      http === null ? undefined : async (url, request) => unwrapReply(await http(url, request)) as Awaited<ReturnType<ActorHttp>>;
    return replyOf(this.#actor.call(name, args, actorHttp));
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const headers = Object.fromEntries(request.headers);
    const access = JSON.parse(headers[ACCESS] ?? "") as ActorRequest["access"];
    try {
      const answer = await this.#actor.fetch({
        method: request.method,
        path: pathname,
        query: search.slice(1),
        headers,
        body: request.body,
        access,
      });
      return new Response(answer.body, {
        status: answer.status,
        headers: { ...answer.headers, [CHANGED]: JSON.stringify(answer.changed) },
      });
    } catch (error) {
      return new Response(null, { status: 500, headers: { [FAILURE]: encodeURIComponent(JSON.stringify(failureOf(error))) } });
    }
  }
}

export class CloudflareRepos implements RepositoryActors {
  readonly #namespace: RepoNamespace;

  constructor(namespace: RepoNamespace) {
    this.#namespace = namespace;
  }

  async call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown> {
    const remote: RemoteHttp | null = http === undefined ? null : (url, request) => replyOf(fetchForRepo(http, url, request));
    return unwrapReply(await this.#namespace.getByName(address).call(name, args, remote).catch(failUnreachable));
  }

  async fetch(address: string, request: ActorRequest): Promise<ActorResponse> {
    const { method, path, query, headers, body, access } = request;
    const forwarded = new Request(`https://repo.invalid${path}?${query}`, {
      method,
      headers: { ...headers, [ACCESS]: JSON.stringify(access) },
      body,
    });
    const response = await this.#namespace.getByName(address).fetch(forwarded).catch(failUnreachable);
    const { [CHANGED]: changed, [FAILURE]: failure, ...rest } = Object.fromEntries(response.headers);
    if (failure !== undefined) throw errorOf(JSON.parse(decodeURIComponent(failure)) as Failure);
    return { status: response.status, headers: rest, body: response.body ?? makeEmptyStream(), changed: JSON.parse(changed ?? "null") };
  }
}

async function fetchForRepo(http: ActorHttp, url: string, request: ActorHttpRequest): Promise<object> {
  const answer = await http(url, request);
  return { ...answer, body: toByteStream(answer.body) };
}

/** Only byte streams can cross between objects. A chunk's buffer is transferred, so each chunk is copied into its own. */
function toByteStream(stream: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream({
    type: "bytes",
    async pull(controller: ReadableByteStreamController) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(new Uint8Array(value));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  });
}

function makeEmptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller: ReadableStreamDefaultController) => controller.close() });
}

function failUnreachable(error: unknown): never {
  throw new SysError(503, `The repository cannot be reached now: ${error instanceof Error ? error.message : String(error)}`);
}
