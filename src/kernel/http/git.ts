// git over HTTP: authenticates and authorizes a request, and passes it on to the repository's actor. A caller who may not read a
// repository gets the same answer as for one that does not exist. Bodies are streamed.

import { allows } from "../../lib/capability.ts";
import { checkedStream } from "../../lib/checked-stream.ts";
import { makeEndNotifyingStream } from "../../lib/ending-stream.ts";
import { fail } from "../../lib/sys-error.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import type { Account } from "../../protocol/records.ts";
import { toSysError } from "../failure.ts";
import { login, WRONG_CREDENTIAL } from "../identity/login.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";
import type { EffectServices } from "../run.ts";
import type { Store } from "../store.ts";

type GitServices = Pick<EffectServices, "passwords" | "throttle" | "repos">;

type GitRequest = { repo: string; path: string; query: string; service: "git-upload-pack" | "git-receive-pack" };

/** Concurrent requests: each holds a connection and, while it is served, keeps a repository's actor busy. */
const AT_ONCE = 32;
/** A user without a running request may exceed that limit, so that a few users with slow connections do not lock out the others. */
const AT_ONCE_IN_ALL = 256;
const AT_ONCE_PER_USER = 8;
/** Not every host reports every disconnect, so older requests no longer count. */
const RUNNING_MS_MAX = 30 * 60 * 1000;
/** The request headers that the protocol needs. */
const FORWARDED = ["content-type", "content-encoding", "git-protocol"];
const TOKEN = /^gsv_(?:user|node|service)_[A-Za-z0-9_-]+$/;

export class GitServer {
  readonly #store: Store;
  readonly #services: GitServices;
  readonly #running = new Set<{ username: string; since: number }>();

  constructor(store: Store, services: GitServices) {
    this.#store = store;
    this.#services = services;
  }

  async serve(request: Request, address: string): Promise<Response> {
    const startedAt = performance.now();
    const target = parseGitRequest(request);
    let response: Response;
    try {
      response = target === null ? plainResponse(404, "Not found") : await this.#answer(request, target, address);
    } catch (error) {
      response = this.#makeRefusal(error, target, address, request.headers.has("authorization"));
    }
    this.#store.ports.meter.countCall(target?.service ?? "git", response.status, performance.now() - startedAt);
    return response;
  }

  async #answer(request: Request, target: GitRequest, address: string): Promise<Response> {
    const account = await this.#authenticate(request, address);
    const row = this.#authorize(account(), target);
    // A request takes as long as the peer likes, and the caller may lose the right to it meanwhile.
    const checkStillAllowed = () => void this.#authorize(account(), target);
    const username = account()?.username ?? null;
    const releaseSlot = this.#takeSlot(username ?? "");
    try {
      const headers = Object.fromEntries(
        FORWARDED.flatMap((name) => (request.headers.has(name) ? [[name, request.headers.get(name)!]] : [])),
      );
      const { path, query, service } = target;
      const access = { read: true, write: service === "git-receive-pack", actor: username };
      const { repos } = this.#services;
      const sent = request.body === null ? null : checkedStream(request.body, checkStillAllowed);
      const answer = await repos.forwardRequest(row, { method: request.method, path, query, headers, body: sent, access });
      // The outcome of a push is reported even if the caller has lost the right to push meanwhile.
      const body = makeEndNotifyingStream(access.write ? answer.body : checkedStream(answer.body, checkStillAllowed), releaseSlot);
      cancelOnAbort(request.signal, body);
      return new Response(body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      releaseSlot();
      throw error;
    }
  }

  /** Returns a function that gives the caller's present account: null without a credential; fails once the credential has ended. */
  async #authenticate(request: Request, address: string): Promise<() => Account | null> {
    const header = request.headers.get("authorization");
    if (header === null) return () => null;
    const { username, secret } = parseBasicAuth(header) ?? fail(401, "Authentication required: use HTTP Basic");
    const { reads } = this.#store;
    const proof = TOKEN.test(secret) ? { username, token: secret } : { username, password: secret };
    const context = { ...this.#services, accounts: reads.accounts, tokens: reads.tokens, now: reads.now, signal: request.signal };
    const { account, credential } = await login(context, proof, { role: "user", clientId: "git", address });
    if (credential.kind === "token") this.#store.relaxed(({ tokens, now }) => tokens.recordUse([credential.tokenId], now));
    const hash = reads.accounts.passwordHashOf(account.username);
    const isCredentialLive = () => {
      if (credential.kind === "password") return reads.accounts.passwordHashOf(account.username) === hash;
      const token = reads.tokens.get(credential.tokenId);
      return token !== undefined && isTokenLive(token, reads.now);
    };
    return () => {
      const present = reads.accounts.findByUid(account.uid);
      return present !== undefined && !present.locked && isCredentialLive() ? present : fail(401, WRONG_CREDENTIAL);
    };
  }

  #authorize(account: Account | null, { repo, service }: GitRequest): RepositoryRow {
    const { reads } = this.#store;
    const { repositories, accounts } = reads;
    const isPush = service === "git-receive-pack";
    if (account === null) {
      const row = repositories.get(repo);
      // Only those who may read a repository may know that it exists.
      if (row === undefined || !row.public || isPush) fail(401, "Authentication required");
      return row;
    }
    const call = isPush ? "repo.apply" : "repo.read";
    const capabilities = reads.capabilities.listForGroups(accounts.identityOf(account).gids);
    if (!allows(capabilities, call)) fail(403, `Permission denied: ${call}`);
    if (!isPush) return repositories.requireReadable(account, repo);
    return (
      repositories.findWritable({ ...account, capabilities }, repo) ??
      fail(404, `Repository not found: ${repo}. Create it first: gsv repo create ${repo}`)
    );
  }

  #takeSlot(username: string): () => void {
    const { now } = this.#store.reads;
    const running = [...this.#running].filter(({ since }) => since > now - RUNNING_MS_MAX);
    const ownCount = running.filter((other) => other.username === username).length;
    if (ownCount >= AT_ONCE_PER_USER || running.length >= (ownCount === 0 ? AT_ONCE_IN_ALL : AT_ONCE))
      fail(429, "Too many git requests at once: try again in a few seconds");
    const slot = { username, since: now };
    this.#running.add(slot);
    return () => void this.#running.delete(slot);
  }

  #makeRefusal(error: unknown, target: GitRequest | null, address: string, hasCredential: boolean): Response {
    const { log, crypto } = this.#store.ports;
    const call = target?.service ?? "git";
    const { code, message, details } = toSysError(error, () => log.reportIncident(crypto.uuid(), { call, address }, error));
    // git clients always send their first request without a credential, so that 401 is not logged.
    if ((code === 401 && hasCredential) || code === 429) log.warn("refused", { call, status: code, address });
    const { retryAfterMs } = (details ?? {}) as { retryAfterMs?: number };
    return plainResponse(code, message, retryAfterMs === undefined ? 5 : Math.ceil(retryAfterMs / 1000));
  }
}

/** Cancels the body of an answer whose caller has disconnected. A body that is being read is cancelled by its reader. */
function cancelOnAbort(signal: AbortSignal, body: ReadableStream<Uint8Array>): void {
  const cancel = () => {
    if (!body.locked) body.cancel().catch(() => {});
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

/** `/git/<owner>/<name>[.git]/<what git asks for>`. */
function parseGitRequest(request: Request): GitRequest | null {
  const url = new URL(request.url);
  const match = /^\/git\/([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]{1,104})(\/.*)$/.exec(url.pathname);
  if (match === null) return null;
  const [, owner = "", name = "", path = ""] = match;
  const repo = `${owner}/${name.replace(/\.git$/, "")}`;
  const isPush = path === "/git-receive-pack" || (path === "/info/refs" && url.searchParams.get("service") === "git-receive-pack");
  return { repo, path, query: url.search.slice(1), service: isPush ? "git-receive-pack" : "git-upload-pack" };
}

function parseBasicAuth(header: string): { username: string; secret: string } | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0)),
    );
    const colon = text.indexOf(":");
    return colon < 0 ? null : { username: text.slice(0, colon), secret: text.slice(colon + 1) };
  } catch {
    return null;
  }
}

function plainResponse(status: number, message: string, retryAfter?: number): Response {
  const headers: Record<string, string> = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  if (status === 401) headers["www-authenticate"] = 'Basic realm="gsv"';
  if ((status === 429 || status === 503) && retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  return new Response(`${message}\n`, { status, headers });
}
