// git over HTTP: who is asking, whether they may, and then on to the repository's actor. Says to whoever may not read a
// repository what it would say of one that does not exist. Bodies are passed on as they come.

import { allows } from "../../lib/capability.ts";
import { checkedStream } from "../../lib/checked-stream.ts";
import { endingStream } from "../../lib/ending-stream.ts";
import { fail } from "../../lib/sys-error.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import type { Account } from "../../protocol/records.ts";
import { toSysError } from "../failure.ts";
import { login, WRONG_CREDENTIAL } from "../identity/login.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";
import type { EffectServices } from "../run.ts";
import type { Store } from "../store.ts";

type GitServices = Pick<EffectServices, "passwords" | "throttle" | "repos">;

type Asked = { repo: string; path: string; query: string; service: "git-upload-pack" | "git-receive-pack" };

/** Requests under way: each holds a connection and, while it is served, part of a repository's turn. */
const AT_ONCE = 32;
/** Who has none is let in beyond that: a few users with slow connections do not keep the others out. */
const AT_ONCE_IN_ALL = 256;
const AT_ONCE_PER_USER = 8;
/** Not every host tells of every peer that goes away: older ones count no more. */
const UNDER_WAY_MS = 30 * 60 * 1000;
/** What the protocol needs of a request's headers. */
const FORWARDED = ["content-type", "content-encoding", "git-protocol"];
const TOKEN = /^gsv_(?:user|node|service)_[A-Za-z0-9_-]+$/;

export class GitServer {
  readonly #store: Store;
  readonly #services: GitServices;
  readonly #underWay = new Set<{ username: string; since: number }>();

  constructor(store: Store, services: GitServices) {
    this.#store = store;
    this.#services = services;
  }

  async serve(request: Request, address: string): Promise<Response> {
    const startedAt = performance.now();
    const asked = parse(request);
    let response: Response;
    try {
      response = asked === null ? plain(404, "Not found") : await this.#answer(request, asked, address);
    } catch (error) {
      response = this.#refusal(error, asked, address, request.headers.has("authorization"));
    }
    this.#store.ports.meter.call(asked?.service ?? "git", response.status, performance.now() - startedAt);
    return response;
  }

  async #answer(request: Request, asked: Asked, address: string): Promise<Response> {
    const account = await this.#account(request, address);
    const row = this.#mayOrFail(account(), asked);
    // An exchange takes as long as its peer likes, and whoever may begin one may have lost the right before it ends.
    const stillMay = () => void this.#mayOrFail(account(), asked);
    const username = account()?.username ?? null;
    const done = this.#begin(username ?? "");
    try {
      const headers = Object.fromEntries(
        FORWARDED.flatMap((name) => (request.headers.has(name) ? [[name, request.headers.get(name)!]] : [])),
      );
      const { path, query, service } = asked;
      const access = { read: true, write: service === "git-receive-pack", actor: username };
      const { repos } = this.#services;
      const sent = request.body === null ? null : checkedStream(request.body, stillMay);
      const answer = await repos.fetch(row, { method: request.method, path, query, headers, body: sent, access });
      // What became of a push is told whoever asks by now.
      const body = endingStream(access.write ? answer.body : checkedStream(answer.body, stillMay), done);
      cancelWith(request.signal, body);
      return new Response(body, { status: answer.status, headers: answer.headers });
    } catch (error) {
      done();
      throw error;
    }
  }

  /** Says who is asking, as they are at that moment: null for whoever did not say, a failure once the login has ended. */
  async #account(request: Request, address: string): Promise<() => Account | null> {
    const header = request.headers.get("authorization");
    if (header === null) return () => null;
    const { username, secret } = basic(header) ?? fail(401, "Authentication required: use HTTP Basic");
    const { reads } = this.#store;
    const proof = TOKEN.test(secret) ? { username, token: secret } : { username, password: secret };
    const context = { ...this.#services, accounts: reads.accounts, tokens: reads.tokens, now: reads.now, signal: request.signal };
    const { account, credential } = await login(context, proof, { role: "user", clientId: "git", address });
    if (credential.kind === "token") this.#store.relaxed(({ tokens, now }) => tokens.used([credential.tokenId], now));
    const hash = reads.accounts.hashOf(account.username);
    const holds = () => {
      if (credential.kind === "password") return reads.accounts.hashOf(account.username) === hash;
      const token = reads.tokens.get(credential.tokenId);
      return token !== undefined && isTokenLive(token, reads.now);
    };
    return () => {
      const present = reads.accounts.byUid(account.uid);
      return present !== undefined && !present.locked && holds() ? present : fail(401, WRONG_CREDENTIAL);
    };
  }

  #mayOrFail(account: Account | null, { repo, service }: Asked): RepositoryRow {
    const { reads } = this.#store;
    const { repositories, accounts } = reads;
    const isPush = service === "git-receive-pack";
    if (account === null) {
      const row = repositories.get(repo);
      // Whether it is there is for those to know who may read it.
      if (row === undefined || !row.public || isPush) fail(401, "Authentication required");
      return row;
    }
    const call = isPush ? "repo.apply" : "repo.read";
    const capabilities = reads.capabilities.of(accounts.identity(account).gids);
    if (!allows(capabilities, call)) fail(403, `Permission denied: ${call}`);
    if (!isPush) return repositories.toRead(account, repo);
    return (
      repositories.toWrite({ ...account, capabilities }, repo) ??
      fail(404, `Repository not found: ${repo}. Create it first: gsv repo create ${repo}`)
    );
  }

  #begin(username: string): () => void {
    const { now } = this.#store.reads;
    const counted = [...this.#underWay].filter(({ since }) => since > now - UNDER_WAY_MS);
    const mine = counted.filter((other) => other.username === username).length;
    if (mine >= AT_ONCE_PER_USER || counted.length >= (mine === 0 ? AT_ONCE_IN_ALL : AT_ONCE))
      fail(429, "Too many git requests at once: try again in a few seconds");
    const slot = { username, since: now };
    this.#underWay.add(slot);
    return () => void this.#underWay.delete(slot);
  }

  #refusal(error: unknown, asked: Asked | null, address: string, isGuess: boolean): Response {
    const { log, crypto } = this.#store.ports;
    const call = asked?.service ?? "git";
    const { code, message, details } = toSysError(error, () => log.incident(crypto.uuid(), { call, address }, error));
    // Clients ask without a credential first, always.
    if ((code === 401 && isGuess) || code === 429) log.warn("refused", { call, status: code, address });
    const { retryAfterMs } = (details ?? {}) as { retryAfterMs?: number };
    return plain(code, message, retryAfterMs === undefined ? 5 : Math.ceil(retryAfterMs / 1000));
  }
}

/** Nobody reads an answer whose asker has gone; a body that is being read is cancelled by whoever reads it. */
function cancelWith(signal: AbortSignal, body: ReadableStream<Uint8Array>): void {
  const cancel = () => {
    if (!body.locked) body.cancel().catch(() => {});
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel, { once: true });
}

/** `/git/<owner>/<name>[.git]/<what git asks for>`. */
function parse(request: Request): Asked | null {
  const url = new URL(request.url);
  const match = /^\/git\/([A-Za-z0-9._-]{1,100})\/([A-Za-z0-9._-]{1,104})(\/.*)$/.exec(url.pathname);
  if (match === null) return null;
  const [, owner = "", name = "", path = ""] = match;
  const repo = `${owner}/${name.replace(/\.git$/, "")}`;
  const isPush = path === "/git-receive-pack" || (path === "/info/refs" && url.searchParams.get("service") === "git-receive-pack");
  return { repo, path, query: url.search.slice(1), service: isPush ? "git-receive-pack" : "git-upload-pack" };
}

function basic(header: string): { username: string; secret: string } | null {
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

function plain(status: number, message: string, retryAfter?: number): Response {
  const headers: Record<string, string> = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  if (status === 401) headers["www-authenticate"] = 'Basic realm="gsv"';
  if ((status === 429 || status === 503) && retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  return new Response(`${message}\n`, { status, headers });
}
