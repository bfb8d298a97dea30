// Connections to model servers that are kept between requests: a connection and its encryption take longer to set up than a small
// request. Each origin and credential has its own, so that no request ever travels on a connection of another credential.

import { Agent, type AgentOptions } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { UrlTarget } from "../../kernel/egress/target.ts";

/** Servers announce or know their own limit; this one ends connections that nobody needs any more. */
const IDLE_MS = 60_000;
const IDLE_SOCKETS_MAX = 8;
const ENTRIES_MAX = 64;
const ADDRESSES_MAX = 32;

/** `addresses` are those that its connections may have been made to. */
type Entry = { agent: ConnectingAgent; addresses: Set<string> };

export class KeptConnections {
  /** By origin and credential, least recently used first. */
  readonly #entries = new Map<string, Entry>();

  /**
   * The agent for this origin and credential. `check` throws if one of the addresses may not be reached any more: then the kept
   * connections are closed, and a new connection is made, with a check of its own. Add its addresses to `addresses`.
   */
  of(target: UrlTarget, credential: string, check: (addresses: readonly string[]) => void): Entry {
    const key = `${target.url.origin}\n${credential}`;
    const known = this.#entries.get(key);
    // A name that keeps moving must not make the list grow.
    const isUsable = known !== undefined && known.addresses.size <= ADDRESSES_MAX && isAllowed(known.addresses, check);
    if (!isUsable) this.#drop(key);
    const entry = isUsable ? known : { agent: new ConnectingAgent(), addresses: new Set<string>() };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > ENTRIES_MAX) this.#drop(this.#entries.keys().next().value!);
    return entry;
  }

  #drop(key: string): void {
    this.#entries.get(key)?.agent.closeIdle();
    this.#entries.delete(key);
  }
}

function isAllowed(addresses: ReadonlySet<string>, check: (addresses: readonly string[]) => void): boolean {
  try {
    check([...addresses]);
    return true;
  } catch {
    return false;
  }
}

export class ConnectingAgent extends Agent {
  /** Makes a connection. Set it right before a request is started: the agent calls it at once, if no connection is free. */
  connect: () => Promise<Socket> = () => Promise.reject(new Error("There is nothing to connect to"));

  constructor() {
    super({ keepAlive: true, maxFreeSockets: IDLE_SOCKETS_MAX, timeout: IDLE_MS, scheduling: "lifo" });
  }

  override createConnection(_: AgentOptions, onMade: (error: Error | null, stream: Duplex) => void): undefined {
    this.connect().then(
      (socket) => onMade(null, socket),
      (error: Error) => onMade(error, undefined as unknown as Duplex),
    );
    return undefined;
  }

  /** Connections in use end later, because nobody uses this agent again. */
  closeIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }
}
