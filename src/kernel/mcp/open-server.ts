// The connection to one MCP server, opened when it is needed and closed when it is idle. All who need it at the same time share one
// handshake. Tools are read again before a call if the last list is not fresh, so that a tool which has changed is not called.

import type { Challenge, McpConnection, McpError } from "../../mcp/connection.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import type { McpAccess, McpDiscovery, McpProgress } from "../nouns/mcp-servers.ts";
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
  /** How many calls run on each connection. */
  readonly #calls = new Map<McpConnection, number>();
  /** Connections that get no new calls, and are closed after their last. */
  readonly #retired = new Set<McpConnection>();
  #isRemoved = false;
  #isStale = true;
  /** Whether resources and prompts are counted again, too. */
  #readsAll = true;
  #listedAt = 0;
  /** When a list that the server said has changed is read again, so that its owner sees it before the next call. */
  #rereadAt: number | null = null;
  /** The list that is being read, for all who need it. */
  #reading: { connection: McpConnection; done: Promise<void> } | null = null;
  /** What was found last, and the same as text. */
  #found: McpDiscovery | null = null;
  #stored = "";
  /** The sign-in that is being started, and errors that say that one is wanted whose page is stored already. */
  #signingIn: Promise<void> | null = null;
  readonly #recorded = new WeakSet<Error>();
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
      if (connection?.isOpen === true) await this.#runOn(connection, () => this.#readTools(connection));
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
    this.#readsAll = true;
    await this.use(async () => {}, signal);
  }

  /** The next call connects again; those that run are not disturbed. */
  async disconnect(): Promise<void> {
    const connection = await this.#connection?.catch(() => null);
    if (connection) await this.#retire(connection);
  }

  /** Ends the connection with all that runs on it. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    this.#isStale = true;
    this.#rereadAt = null;
    const last = await connection?.catch(() => null);
    await Promise.all([...new Set([...(last ? [last] : []), ...this.#calls.keys()])].map((one) => one.close()));
  }

  /** For good: nothing connects again. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.close();
  }

  async #tryTwice<T>(work: (connection: McpConnection) => Promise<T>, signal: AbortSignal): Promise<T> {
    const run = async () => {
      const connection = await rejectOnAbort(this.#connect(), signal);
      return this.#runOn(connection, async () => {
        await rejectOnAbort(this.#readTools(connection), signal);
        return work(connection);
      });
    };
    try {
      return await run().catch((error: unknown) => (isKind(error, "session") ? run() : Promise.reject(error)));
    } catch (error) {
      // The server refuses a token that has just been renewed.
      if (isKind(error, "sign-in") && !this.#recorded.has(error)) return this.#requireSignIn(null);
      if (signal.aborted && error === signal.reason) throw await makeMcpError("aborted", "the call was stopped");
      throw error;
    }
  }

  /** A connection whose session is lost is closed only after its last call: each learns by itself whether it was handled. */
  async #runOn<T>(connection: McpConnection, work: () => Promise<T>): Promise<T> {
    this.#calls.set(connection, (this.#calls.get(connection) ?? 0) + 1);
    try {
      return await work();
    } catch (error) {
      if (isKind(error, "session")) this.#retired.add(connection);
      throw error;
    } finally {
      const others = this.#calls.get(connection)! - 1;
      if (others > 0) this.#calls.set(connection, others);
      else {
        this.#calls.delete(connection);
        if (this.#retired.has(connection)) void this.#retire(connection);
      }
    }
  }

  async #retire(connection: McpConnection): Promise<void> {
    this.#retired.add(connection);
    if (this.#calls.has(connection)) return;
    await connection.close();
    this.#retired.delete(connection);
  }

  async #connect(): Promise<McpConnection> {
    const open = this.#connection;
    if (open !== null) {
      const connection = await open;
      if (connection.isOpen && !this.#retired.has(connection)) return connection;
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
    const access = this.#isRemoved ? undefined : nouns.mcpServers.accessOf(this.serverId);
    if (access === undefined) throw new Failure("aborted", "the server was removed");
    this.#isStale = true;
    this.#showProgress("connecting");
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
      if (this.#isRemoved) {
        await connection.close();
        throw new Failure("aborted", "the server was removed");
      }
      this.#showProgress("connected");
      return connection;
    } finally {
      nouns.mcpServers.setProgress(this.serverId, null);
    }
  }

  /** A server that is ready stays so while its connection is opened again: its tools can be called all the time. */
  #showProgress(progress: McpProgress): void {
    const { mcpServers } = this.#store.nouns;
    if (!mcpServers.isReady(this.serverId)) mcpServers.setProgress(this.serverId, progress);
  }

  async #readTools(connection: McpConnection): Promise<void> {
    const age = this.#store.reads.now - this.#listedAt;
    // A clock that was put back says nothing.
    if (!this.#isStale && age >= 0 && age < FRESH_MS) return;
    if (this.#reading?.connection !== connection) {
      const done = this.#list(connection).finally(() => (this.#reading = this.#reading?.done === done ? null : this.#reading));
      this.#reading = { connection, done };
    }
    await this.#reading.done;
  }

  async #list(connection: McpConnection): Promise<void> {
    const { nouns, reads } = this.#store;
    const never = new AbortController().signal;
    const known = this.#readsAll ? null : this.#found;
    // Before the list is read: a change that is announced meanwhile makes it stale again.
    this.#isStale = false;
    this.#rereadAt = null;
    try {
      if (this.#found === null) this.#showProgress("discovering");
      const [{ tools, leftOut }, counts] = await Promise.all([connection.listTools(never), known ?? countOthers(connection, never)]);
      const { resourceCount, promptCount } = counts;
      const instructions = connection.instructions?.slice(0, INSTRUCTIONS_CHARS_MAX) ?? null;
      const capabilities = limitCapabilities(connection.capabilities);
      await this.#record({ tools, leftOut, instructions, capabilities, resourceCount, promptCount });
      this.#listedAt = reads.now;
      if (known === null) this.#readsAll = false;
    } catch (error) {
      this.#isStale = true;
      throw error;
    } finally {
      nouns.mcpServers.setProgress(this.serverId, null);
    }
  }

  /** Only what has changed is written. */
  async #record(found: McpDiscovery): Promise<void> {
    const { nouns } = this.#store;
    const text = JSON.stringify(found);
    this.#found = found;
    if (text === this.#stored && nouns.mcpServers.isReady(this.serverId)) return;
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

  async #token(): Promise<string | undefined> {
    const accountId = this.#access()?.accountId ?? null;
    if (accountId === null) return undefined;
    try {
      return await this.#oauth.accessTokenOf(accountId);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      return this.#requireSignIn(null);
    }
  }

  async #renew(refused: string | undefined, challenge: Challenge): Promise<void> {
    const accountId = this.#access()?.accountId ?? null;
    if (accountId === null || refused === undefined || challenge.isMoreScope) return this.#requireSignIn(challenge);
    try {
      await this.#oauth.accessTokenOf(accountId, refused);
    } catch (error) {
      if (!(error instanceof SignInRequired)) throw error;
      return this.#requireSignIn(challenge);
    }
  }

  /** Stores the page at which the owner signs in, unless there is one that still works. */
  async #requireSignIn(challenge: Challenge | null): Promise<never> {
    const access = this.#access();
    if (access === undefined) throw await makeMcpError("aborted", "the server was removed");
    const isMore = challenge?.isMoreScope === true;
    this.#signingIn ??= this.#startSignIn(access, challenge, isMore).finally(() => (this.#signingIn = null));
    await this.#signingIn;
    const error = await makeMcpError("sign-in", isMore ? "the server wants a sign-in with more rights" : "the server wants a sign-in");
    this.#recorded.add(error);
    throw error;
  }

  async #startSignIn(access: McpAccess, challenge: Challenge | null, isMore: boolean): Promise<void> {
    const { reads } = this.#store;
    const known = reads.mcpServers.signInPageOf(this.serverId);
    // Its owner may be there just now, and a new page would end that one.
    const isUsable = known !== null && known.until - reads.now > PAGE_MS_LEFT;
    const page = isUsable ? known : await startSignIn(this.#store, this.#oauth, access, challenge);
    await this.#store.commit(({ mcpServers, emit, after, now }) => {
      // Without more rights, what there is goes on working.
      if (isMore && mcpServers.isReady(this.serverId)) mcpServers.setSignInPage(this.serverId, page, now);
      else mcpServers.recordSignIn(this.serverId, page, null, now);
      after(() => emit.announceChanges(access.uid, ["mcp"]));
    });
  }
}

/** A page that works no longer than this is replaced. */
const PAGE_MS_LEFT = 60_000;
const INSTRUCTIONS_CHARS_MAX = 8_000;
const CAPABILITIES_CHARS_MAX = 16 * 1024;
const CAPABILITIES_MAX = 50;

async function countOthers(connection: McpConnection, signal: AbortSignal): Promise<{ resourceCount: number; promptCount: number }> {
  const count = (list: Promise<readonly unknown[]>) => list.then(({ length }) => length).catch(() => 0);
  const [resources, templates, prompts] = await Promise.all([
    count(connection.listResources(signal)),
    count(connection.listResourceTemplates(signal)),
    count(connection.listPrompts(signal)),
  ]);
  return { resourceCount: resources + templates, promptCount: prompts };
}

/** Of large ones only the names. */
function limitCapabilities(capabilities: Record<string, unknown> | null): Record<string, unknown> | null {
  if (capabilities === null || JSON.stringify(capabilities).length <= CAPABILITIES_CHARS_MAX) return capabilities;
  const names = Object.keys(capabilities).filter((name) => name.length <= 64);
  return Object.fromEntries(names.slice(0, CAPABILITIES_MAX).map((name) => [name, {}]));
}

async function makeMcpError(kind: McpError["kind"], message: string): Promise<McpError> {
  const { McpError: Failure } = await import("../../mcp/connection.ts");
  return new Failure(kind, message);
}

/** By name: the class is in a file that is loaded only when it is needed. */
function isKind(error: unknown, kind: McpError["kind"]): error is McpError {
  return error instanceof Error && error.name === "McpError" && (error as McpError).kind === kind;
}
