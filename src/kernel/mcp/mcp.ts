// The MCP servers of all users: adds and removes them, calls their tools, and reads their resources and prompts. A user reaches only their
// own servers. A server that fails several times in a row is left alone for a minute.

import { Breaker } from "../../lib/breaker.ts";
import { allows } from "../../lib/capability.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { McpConnection, McpError, ToolResult } from "../../mcp/connection.ts";
import { listFunctions } from "../../mcp/functions.ts";
import { UnsealError } from "../../ports/crypto.ts";
import type { ScriptFunction } from "../../ports/sandbox.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { McpServerSummary, McpTransportType } from "../../protocol/mcp-records.ts";
import type { WriteContext } from "../context.ts";
import type { McpServerAddress } from "../nouns/mcp-servers.ts";
import { earliestOf, type Part } from "../part.ts";
import { mustBeRemoteUrl } from "../oauth/addresses.ts";
import type { CallbackOutcome, OAuth } from "../oauth/oauth.ts";
import type { Store } from "../store.ts";
import { OpenServer } from "./open-server.ts";
import { getPrompt, listPrompts, listResources, readResource } from "./resources-and-prompts.ts";

/** A connection that nobody has used for this long is closed; what the server keeps for the session is lost then. */
const IDLE_MS = 10 * 60 * 1000;
/** How long a server is left alone that has failed several times in a row. */
const REST_MS = 60_000;
/** A failed server is tried again when a run starts, but not more often than this. */
const RETRY_MS = 60_000;

type OfServer = { uid?: number | undefined; serverId: string };
export type AddArgs = {
  uid?: number | undefined;
  name: string;
  url: string;
  callbackHost?: string | undefined;
  transport?: { type?: McpTransportType | undefined; headers?: Record<string, string> | undefined } | undefined;
  oauth?: { clientId?: string | undefined; clientSecret?: string | undefined; tokenHost?: string | undefined } | undefined;
};

export class Mcp implements Part {
  readonly #store: Store;
  readonly #oauth: OAuth;
  readonly #open = new Map<string, OpenServer>();
  readonly #breaker = new Breaker(REST_MS);
  readonly #retriedAt = new Map<string, number>();
  readonly #functions = new Map<number, { generation: number; functions: ScriptFunction[] }>();
  /** By what two servers of a user must not share. */
  readonly #adding = new Map<string, Promise<McpServerSummary>>();

  constructor(store: Store, oauth: OAuth) {
    this.#store = store;
    this.#oauth = oauth;
  }

  async add(caller: Caller, args: AddArgs, signal: AbortSignal): Promise<McpServerSummary> {
    const { name } = args;
    const uid = this.#ownerFor(caller, args.uid, "add MCP servers");
    if (this.#store.reads.accounts.findByUid(uid) === undefined) fail(404, `Unknown uid: ${uid}`);
    const url = mustBeRemoteUrl(args.url, "url").href;
    if (args.oauth?.clientSecret !== undefined && args.oauth.clientId === undefined) fail(400, "oauth.clientSecret needs oauth.clientId");
    const callbackUrl = this.#oauth.callbackUrlFor(caller, args.callbackHost);
    const key = JSON.stringify([uid, name, url]);
    const adding = this.#adding.get(key);
    if (adding !== undefined) return waitUntilAdded(adding, signal);
    const known = this.#store.reads.mcpServers.find(uid, name, url);
    if (known !== undefined) return this.#summaryOf(known);
    // What an agent adds could be what its owner has not accepted.
    const added = this.#addNew({ ...args, uid, url, callbackUrl, acceptsTools: caller.agent === undefined }).finally(() =>
      this.#adding.delete(key),
    );
    this.#adding.set(key, added);
    return waitUntilAdded(added, signal);
  }

  /** It belongs to all who wait for it, so none of them can stop it. */
  async #addNew({
    uid,
    name,
    url,
    transport,
    oauth,
    callbackUrl,
    acceptsTools,
  }: AddArgs & { uid: number; callbackUrl: string | null; acceptsTools: boolean }): Promise<McpServerSummary> {
    const { clientId = null, clientSecret = null, tokenHost = null } = oauth ?? {};
    const serverId = await this.#store.commit(({ mcpServers, now }) =>
      mcpServers.add(
        {
          uid,
          name,
          url,
          transport: transport?.type ?? "auto",
          headers: transport?.headers ?? {},
          client: oauth === undefined ? null : { clientId, clientSecret, tokenHost },
          callbackUrl,
          acceptsTools,
        },
        now,
      ),
    );
    try {
      await this.#openServer(serverId).discover(new AbortController().signal);
    } catch (error) {
      if (!isKind(error, "sign-in")) {
        await this.#forget(serverId);
        const failure = this.#toSysError(null, error);
        throw new SysError(failure.code, capitalize(failure.message), failure.details);
      }
    }
    return this.#summaryOf(serverId);
  }

  async remove(caller: Caller, uid: number | undefined, serverId: string): Promise<boolean> {
    const owner = this.#ownerFor(caller, uid, "remove MCP servers");
    if (this.#store.reads.mcpServers.uidOf(serverId) !== owner) return false;
    await this.#forget(serverId);
    return true;
  }

  async refresh(caller: Caller, { uid, serverId, callbackHost }: OfServer & { callbackHost?: string | undefined }, signal: AbortSignal) {
    const owner = this.#ownerFor(caller, uid, "refresh MCP servers");
    const { mcpServers } = this.#store.reads;
    if (mcpServers.uidOf(serverId) !== owner) return null;
    const callbackUrl = this.#oauth.callbackUrlFor(caller, callbackHost);
    await this.#store.commit((nouns) => {
      if (callbackUrl !== null && (callbackHost !== undefined || caller.agent === undefined))
        nouns.mcpServers.setCallbackUrl(serverId, callbackUrl);
      // Whoever asks wants a new page.
      nouns.mcpServers.setSignInPage(serverId, null, nouns.now);
    });
    this.#breaker.recordSuccess(serverId);
    await this.#reconnect(serverId, signal);
    return mcpServers.get(serverId, this.#store.reads.now) ?? null;
  }

  async accept(caller: Caller, { uid, serverId, tools }: OfServer & { tools: readonly { name: string; hash: string }[] }) {
    const server = this.#mustOwn(caller, { uid, serverId }, "accept tools");
    await this.#store.commit((nouns) => {
      nouns.mcpServers.accept(serverId, tools, nouns.now);
      // Whoever allowed calls of the tool beforehand has allowed another one.
      for (const { name } of tools) revokeGrants(nouns, server, describeTool(server, name));
    });
    return this.#summaryOf(serverId);
  }

  async call(
    caller: Caller,
    args: OfServer & { name: string; arguments?: Record<string, unknown> | undefined; timeoutMs?: number | undefined },
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const { serverId, name, timeoutMs } = args;
    return this.#use(caller, args, "call MCP tools", signal, (connection) => {
      const tool = this.#store.reads.mcpServers.requireTool(serverId, name);
      return connection.callTool(tool, args.arguments ?? {}, timeoutMs, signal);
    });
  }

  listResources(caller: Caller, of: OfServer, signal: AbortSignal) {
    return this.#use(caller, of, "read MCP resources", signal, (connection) => listResources(connection, signal));
  }

  readResource(caller: Caller, of: OfServer, uri: string, signal: AbortSignal) {
    return this.#use(caller, of, "read MCP resources", signal, (connection) => readResource(connection, uri, signal));
  }

  listPrompts(caller: Caller, of: OfServer, signal: AbortSignal) {
    return this.#use(caller, of, "read MCP prompts", signal, (connection) => listPrompts(connection, signal));
  }

  getPrompt(caller: Caller, of: OfServer, name: string, args: Record<string, string>, signal: AbortSignal) {
    return this.#use(caller, of, "read MCP prompts", signal, (connection) => getPrompt(connection, name, args, signal));
  }

  /** The servers of a user whose tools can be called. */
  listReady(uid: number): McpServerSummary[] {
    const { mcpServers, now } = this.#store.reads;
    return mcpServers.listReady(uid, now);
  }

  /** The functions by which scripts of a caller call the tools of their servers. */
  functionsFor({ uid, capabilities }: Pick<Caller, "uid" | "capabilities">): ScriptFunction[] {
    if (!allows(capabilities, "sys.mcp.call")) return [];
    const { mcpServers, now } = this.#store.reads;
    const generation = mcpServers.generationOf(uid);
    const known = this.#functions.get(uid);
    if (known?.generation === generation) return known.functions;
    const functions = limitSchemas(listFunctions(mcpServers.listReady(uid, now), mcpServers.listNames(uid)));
    this.#functions.set(uid, { generation, functions });
    return functions;
  }

  /** A run of the user starts: servers that could not be reached are tried again, without waiting for them. */
  retryFailed(uid: number): void {
    const { mcpServers, now } = this.#store.reads;
    for (const serverId of mcpServers.listFailed(uid)) {
      if (now - (this.#retriedAt.get(serverId) ?? 0) < RETRY_MS) continue;
      this.#retriedAt.set(serverId, now);
      void this.#reconnectLater(serverId);
    }
  }

  /** The owner came back from the provider. */
  onSignInEnded(outcome: CallbackOutcome): void {
    const { flow } = outcome;
    const serverId = flow?.serverId ?? null;
    const { mcpServers } = this.#store.reads;
    if (flow === null || serverId === null || mcpServers.uidOf(serverId) !== flow.uid) return;
    if (outcome.ok) return void this.#reconnectLater(serverId);
    const why = `${outcome.title}: ${outcome.message}`;
    this.#store.write((nouns) => {
      // It was about more rights, and what there is goes on working.
      if (nouns.mcpServers.isReady(serverId)) nouns.mcpServers.setSignInPage(serverId, null, nouns.now);
      else nouns.mcpServers.recordSignIn(serverId, null, why, nouns.now);
      nouns.after(() => nouns.emit.announceChanges(flow.uid, ["mcp"]));
    });
  }

  nextDueAt(): number | null {
    return earliestOf(
      [...this.#open.values()].flatMap(({ idleSince, rereadAt }) => [idleSince === null ? null : idleSince + IDLE_MS, rereadAt]),
    );
  }

  onWake(now: number): void {
    for (const [serverId, server] of this.#open) {
      if (server.rereadAt !== null && server.rereadAt <= now) void this.#reread(server);
      if (server.idleSince === null || now - server.idleSince < IDLE_MS) continue;
      this.#open.delete(serverId);
      void server.close();
    }
  }

  async #use<T>(
    caller: Caller,
    of: OfServer,
    what: string,
    signal: AbortSignal,
    work: (connection: McpConnection) => Promise<T>,
  ): Promise<T> {
    const { serverId } = of;
    const { name } = this.#mustOwn(caller, of, what);
    const waitMs = this.#breaker.startOrGetWaitMs(serverId, this.#store.reads.now);
    if (waitMs > 0)
      fail(503, `${name} has failed several times in a row and is left alone for ${Math.ceil(waitMs / 1000)} s: try again then`, {
        retryAfterMs: waitMs,
      });
    try {
      const result = await this.#openServer(serverId).use(work, signal);
      this.#breaker.recordSuccess(serverId);
      return result;
    } catch (error) {
      if (isKind(error, "unreachable") || isKind(error, "timeout") || isKind(error, "protocol"))
        this.#breaker.recordFailure(serverId, this.#store.reads.now);
      else this.#breaker.releaseProbe(serverId);
      throw this.#toSysError(name, error);
    } finally {
      this.#store.wakeBy(this.nextDueAt());
    }
  }

  /** Connects again. A failure is stored with the server. */
  async #reconnect(serverId: string, signal: AbortSignal): Promise<void> {
    const server = this.#openServer(serverId);
    try {
      await server.disconnect();
      await server.discover(signal);
    } catch (error) {
      await this.#recordFailure(serverId, error);
    } finally {
      this.#store.wakeBy(this.nextDueAt());
    }
  }

  async #reconnectLater(serverId: string): Promise<void> {
    try {
      await this.#reconnect(serverId, new AbortController().signal);
    } catch (error) {
      this.#store.ports.log.error("an MCP server could not be connected", { error: String(error) });
    }
  }

  /** A failure shows at the next call. */
  async #reread(server: OpenServer): Promise<void> {
    try {
      await server.reread();
    } catch (error) {
      if (!isMcpError(error) && !(error instanceof SysError))
        this.#store.ports.log.error("the tools of an MCP server could not be read", { error: String(error) });
    } finally {
      this.#store.wakeBy(this.nextDueAt());
    }
  }

  async #recordFailure(serverId: string, error: unknown): Promise<void> {
    if (isKind(error, "sign-in") || isKind(error, "aborted")) return;
    const why = capitalize(this.#toSysError(null, error).message);
    await this.#store.commit(({ mcpServers, emit, after, now }) => {
      const uid = mcpServers.uidOf(serverId);
      if (uid === undefined) return;
      mcpServers.recordFailure(serverId, why, now);
      after(() => emit.announceChanges(uid, ["mcp"]));
    });
  }

  /** Removes a server, its sign-ins in progress, and the accounts that were made for it alone. */
  async #forget(serverId: string): Promise<void> {
    // While there is still a token with which the session can be ended.
    await this.#openServer(serverId).remove();
    try {
      await this.#store.commit((nouns) => {
        const { mcpServers, oauthFlows, oauthAccounts } = nouns;
        const server = mcpServers.addressOf(serverId);
        if (server === undefined) return;
        // Another server may get its name and address.
        revokeGrants(nouns, server, null);
        mcpServers.remove(serverId);
        oauthFlows.deleteOfServer(serverId);
        oauthAccounts.deleteOfServer(server.uid, serverId);
      });
    } finally {
      // Until now it has kept calls from connecting again.
      this.#open.delete(serverId);
      this.#retriedAt.delete(serverId);
      this.#breaker.recordSuccess(serverId);
    }
  }

  #openServer(serverId: string): OpenServer {
    const open = this.#open.get(serverId) ?? new OpenServer(this.#store, this.#oauth, serverId, () => this.#store.wakeBy(this.nextDueAt()));
    this.#open.set(serverId, open);
    return open;
  }

  #summaryOf(serverId: string): McpServerSummary {
    const { mcpServers, now } = this.#store.reads;
    return mcpServers.get(serverId, now) ?? fail(404, "MCP server not found");
  }

  #ownerFor(caller: Caller, uid: number | undefined, what: string): number {
    if (uid !== undefined && uid !== caller.uid && !isRoot(caller)) fail(403, `Permission denied: cannot ${what} for another user`);
    return uid ?? caller.uid;
  }

  #mustOwn(caller: Caller, { uid, serverId }: OfServer, what: string): McpServerAddress {
    const owner = this.#ownerFor(caller, uid, what);
    const server = this.#store.reads.mcpServers.addressOf(serverId);
    return server === undefined || server.uid !== owner ? fail(404, "MCP server not found") : server;
  }

  #toSysError(name: string | null, error: unknown): SysError {
    if (error instanceof SysError) return error;
    const who = name === null ? "" : `${name}: `;
    if (error instanceof UnsealError) return new SysError(409, `${who}its settings cannot be read: remove it and add it again`);
    if (!isMcpError(error)) throw error;
    const { kind, message, mayHaveRun } = error;
    const unknown = mayHaveRun ? ". Whether the tool has run is unknown: check before you call it again" : "";
    const details = mayHaveRun ? { outcome: "unknown" } : undefined;
    switch (kind) {
      case "sign-in":
        return new SysError(409, `${who}${message}: open Integrations to sign in, or run mcp refresh`);
      case "timeout":
        return new SysError(504, `${who}${message}${unknown}`, details);
      case "refused":
      case "protocol":
      case "session":
      case "unreachable":
      case "aborted":
        return new SysError(503, `${who}${message}${unknown}`, details);
    }
  }
}

/** What a person is asked about, and what a permission covers: one tool of one server, wherever its data goes. */
export function describeTool({ name: serverName, url }: Pick<McpServerAddress, "name" | "url">, name: string): string {
  return `${name} of ${serverName} (${url})`;
}

/** Waits for a server that is being added, which goes on even if this caller is stopped. */
async function waitUntilAdded(adding: Promise<McpServerSummary>, signal: AbortSignal): Promise<McpServerSummary> {
  try {
    return await rejectOnAbort(adding, signal);
  } catch (error) {
    if (signal.aborted && error === signal.reason)
      fail(503, "The call was stopped, but the server may still be added: mcp list shows it then");
    throw error;
  }
}

/** For one tool, or for all tools of the server, and for commands that may call them: those know a server by a name that another can get. */
function revokeGrants({ approvals, emit, after, now }: WriteContext, server: McpServerAddress, target: string | null): void {
  const isRevoked = approvals.revokeGrantsForTool(server.uid, target ?? describeTool(server, ""), target === null, now);
  if (isRevoked) after(() => emit.announceChanges(server.uid, ["approvals"]));
}

/** Of all functions of a script: the engine has little memory. Later functions have none. */
const SCHEMAS_CHARS_MAX = 512 * 1024;

function limitSchemas(functions: readonly ScriptFunction[]): ScriptFunction[] {
  let chars = 0;
  return functions.map((one) => {
    chars += JSON.stringify([one.inputSchema, one.outputSchema, one.description]).length;
    return chars <= SCHEMAS_CHARS_MAX ? one : { ...one, description: null, inputSchema: null, outputSchema: null };
  });
}

/** By name: the class is in a file that is loaded only when it is needed. */
function isMcpError(error: unknown): error is McpError {
  return error instanceof Error && error.name === "McpError";
}

function isKind(error: unknown, kind: McpError["kind"]): boolean {
  return isMcpError(error) && error.kind === kind;
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
