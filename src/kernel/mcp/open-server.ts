// The connection to one MCP server, opened when it is needed and closed when it is idle. All who need it at the same time share one
// handshake. Tools are read again before a call if the last list is not fresh, so that a tool which has changed is not called.

import type { Challenge, McpConnection, McpError } from "../../mcp/connection.ts";
import type { McpAccess, McpDiscovery } from "../nouns/mcp-servers.ts";
import { type OAuth, SignInRequired } from "../oauth/oauth.ts";
import type { Store } from "../store.ts";
import { startSignIn } from "./sign-in.ts";

/** A list of tools counts as fresh for this long. One that has changed, as its server says, is read by itself no more often than this. */
const FRESH_MS = 5_000;

export class OpenServer {
  readonly serverId: string;
  readonly #store: Store;
  readonly #oauth: OAuth;
  readonly #onDue: () => void;
  #connection: Promise<McpConnection> | null = null;
  #isStale = true;
  #listedAt = 0;
  /** When a list that the server said has changed is read again, so that its owner sees it before the next call. */
  #rereadAt: number | null = null;
  /** The discovery that was stored last. */
  #stored = "";
  #users = 0;
  #idleSince: number;

  /** `onDue` is called when `rereadAt` has changed. */
  constructor(store: Store, oauth: OAuth, serverId: string, onDue: () => void) {
    this.#store = store;
    this.#oauth = oauth;
    this.serverId = serverId;
    this.#onDue = onDue;
    this.#idleSince = store.reads.now;
  }

  /** Null while it is in use. */
  get idleSince(): number | null {
    return this.#users === 0 ? this.#idleSince : null;
  }

  get rereadAt(): number | null {
    return this.#rereadAt;
  }

  /** Reads the tools again if the connection is open. That does not count as use: a server cannot keep its connection by changing. */
  async reread(): Promise<void> {
    this.#rereadAt = null;
    this.#users++;
    try {
      const connection = await this.#connection?.catch(() => null);
      if (connection?.isOpen === true) await this.#readTools(connection, new AbortController().signal);
    } finally {
      this.#users--;
    }
  }

  /**
   * Runs work with a connection whose tools have just been read. If the server has forgotten the session, the handshake is done again, and
   * the work once more: nothing of it has happened.
   */
  async use<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    this.#users++;
    try {
      return await this.#tryTwice(work, signal);
    } finally {
      this.#users--;
      this.#idleSince = this.#store.reads.now;
    }
  }

  /** Connects, unless it is connected, and reads everything that the server offers. */
  async discover(signal: AbortSignal): Promise<void> {
    this.#isStale = true;
    await this.use(async () => {}, signal);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#isStale = true;
    this.#rereadAt = null;
    await (await connection?.catch(() => null))?.close();
  }

  async #tryTwice<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    const run = async () => {
      const connection = await this.#connect();
      await this.#readTools(connection, signal);
      return work(connection);
    };
    try {
      return await run();
    } catch (error) {
      if (!isSessionLost(error)) throw error;
      await this.close();
      return run();
    }
  }

  async #connect(): Promise<McpConnection> {
    const open = this.#connection;
    if (open !== null) {
      const connection = await open;
      if (connection.isOpen) return connection;
    }
    if (this.#connection === open) this.#connection = this.#open();
    try {
      return await this.#connection!;
    } catch (error) {
      this.#connection = null;
      throw error;
    }
  }

  /** The handshake belongs to all who wait for it, so none of them can stop it. */
  async #open(): Promise<McpConnection> {
    const { nouns, ports } = this.#store;
    const [{ McpConnection: Connection, McpError: Failure }, { makeMessageFetch }] = await Promise.all([
      import("../../mcp/connection.ts"),
      import("../../mcp/fetch.ts"),
    ]);
    const access = nouns.mcpServers.accessOf(this.serverId);
    if (access === undefined) throw new Failure("aborted", "the server was removed");
    this.#isStale = true;
    nouns.mcpServers.setProgress(this.serverId, "connecting");
    try {
      const connection = await Connection.open(
        {
          url: access.url,
          transport: access.transport,
          headers: access.headers,
          fetch: makeMessageFetch(ports.net),
          bearer: {
            token: () => this.#token(),
            renew: (refused, challenge) => this.#renew(refused, challenge),
          },
          onToolsChanged: () => {
            this.#isStale = true;
            this.#rereadAt ??= Math.max(this.#store.reads.now, this.#listedAt + FRESH_MS);
            this.#onDue();
          },
          onClosed: () => {
            this.#isStale = true;
          },
        },
        new AbortController().signal,
      );
      nouns.mcpServers.setProgress(this.serverId, "connected");
      return connection;
    } finally {
      nouns.mcpServers.setProgress(this.serverId, null);
    }
  }

  async #readTools(connection: McpConnection, signal: AbortSignal): Promise<void> {
    const { nouns, reads } = this.#store;
    if (!this.#isStale && reads.now - this.#listedAt < FRESH_MS) return;
    // Before the list is read: a change that is announced meanwhile makes it stale again.
    this.#isStale = false;
    this.#rereadAt = null;
    try {
      if (this.#stored === "") nouns.mcpServers.setProgress(this.serverId, "discovering");
      const [{ tools }, resources, templates, prompts] = await Promise.all([
        connection.listTools(signal),
        connection.listResources(signal).catch(() => []),
        connection.listResourceTemplates(signal).catch(() => []),
        connection.listPrompts(signal).catch(() => []),
      ]);
      await this.#record({
        tools,
        instructions: connection.instructions?.slice(0, INSTRUCTIONS_CHARS_MAX) ?? null,
        capabilities: connection.capabilities,
        resourceCount: resources.length + templates.length,
        promptCount: prompts.length,
      });
      this.#listedAt = reads.now;
    } catch (error) {
      this.#isStale = true;
      throw error;
    } finally {
      nouns.mcpServers.setProgress(this.serverId, null);
    }
  }

  /** Only what has changed is written. */
  async #record(found: McpDiscovery): Promise<void> {
    const { nouns, reads } = this.#store;
    const text = JSON.stringify(found);
    const state = nouns.mcpServers.get(this.serverId, reads.now)?.state;
    if (text === this.#stored && state === "ready") return;
    await this.#store.commit(({ mcpServers, emit, after, now }) => {
      mcpServers.recordDiscovery(this.serverId, found, now);
      const uid = mcpServers.uidOf(this.serverId);
      if (uid !== undefined) after(() => emit.announceChanges(uid, ["mcp"]));
    });
    this.#stored = text;
  }

  #access(): McpAccess | undefined {
    return this.#store.nouns.mcpServers.accessOf(this.serverId);
  }

  /** An account that its owner made for this server counts too. */
  #accountId(): string | null {
    const access = this.#access();
    if (access === undefined) return null;
    return access.accountId ?? this.#store.reads.oauthAccounts.findForResource(access.uid, access.url)?.accountId ?? null;
  }

  async #token(): Promise<string | undefined> {
    const accountId = this.#accountId();
    if (accountId === null) return undefined;
    try {
      return await this.#oauth.accessTokenOf(accountId);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      return this.#requireSignIn(null);
    }
  }

  async #renew(refused: string | undefined, challenge: Challenge): Promise<void> {
    const accountId = this.#accountId();
    if (accountId === null || refused === undefined || challenge.isMoreScope) return this.#requireSignIn(challenge);
    try {
      await this.#oauth.accessTokenOf(accountId, refused);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      return this.#requireSignIn(challenge);
    }
  }

  /** Stores the page at which the owner signs in. */
  async #requireSignIn(challenge: Challenge | null): Promise<never> {
    const { McpError: Failure } = await import("../../mcp/connection.ts");
    const access = this.#access();
    if (access === undefined) throw new Failure("aborted", "the server was removed");
    const { authUrl, until } = await startSignIn(this.#store, this.#oauth, access, challenge);
    await this.#store.commit(({ mcpServers, emit, after, now }) => {
      mcpServers.recordSignIn(this.serverId, authUrl, until, null, now);
      after(() => emit.announceChanges(access.uid, ["mcp"]));
    });
    throw new Failure("sign-in", "the server wants a sign-in");
  }
}

const INSTRUCTIONS_CHARS_MAX = 8_000;

/** By name: the class is in a file that is loaded only when it is needed. */
function isSessionLost(error: unknown): boolean {
  return error instanceof Error && error.name === "McpError" && (error as McpError).kind === "session";
}
