// The kernel's rows and the ways to change them, for every part of the kernel. A change is one transaction of nouns; the ways
// differ in what they promise. Actions that a transaction registers with `after` run once it has succeeded, and never if it fails.

import type { Ports } from "../ports/ports.ts";
import { StorageError } from "../ports/sql.ts";
import type { GatewayFacts, ReadContext, WriteContext } from "./context.ts";
import { SignalEmitter } from "./emit.ts";
import { makeNouns, type Nouns } from "./nouns/nouns.ts";
import type { Part } from "./part.ts";
import { migrate } from "./schema/migrate.ts";
import { Transactor, type TransactionResult } from "./transactor.ts";

export class Store implements Part {
  readonly ports: Ports;
  readonly reads: ReadContext;
  /** All nouns, for work that the kernel does for itself. */
  readonly nouns: Nouns;
  readonly emit: SignalEmitter;
  readonly #writes: WriteContext;
  readonly #transactor: Transactor;
  #wakeAt: number | null = null;

  constructor(ports: Ports, about: GatewayFacts, defaults: ReadonlyMap<string, string>) {
    this.ports = ports;
    migrate(ports.sql);
    this.#transactor = new Transactor(ports.sql, () => {
      nouns.connections.onRollback();
      nouns.files.onRollback();
      nouns.config.onRollback();
      nouns.mcpServers.onRollback();
      clearRowCaches(nouns);
    });
    const nouns = makeNouns(ports, this.#transactor, defaults);
    this.nouns = nouns;
    const after = (action: () => void) => this.#transactor.after(action);
    this.emit = new SignalEmitter(ports.sockets, nouns);
    const wakeBy = (dueAt: number | null) => after(() => this.wakeBy(dueAt));
    const context = { about, ...nouns, emit: this.emit, after, wakeBy };
    Object.defineProperty(context, "now", { get: () => ports.clock.now() });
    this.reads = context as typeof context & ReadContext;
    this.#writes = context as typeof context & WriteContext;
  }

  /** Resolves when the transaction is durable. */
  async commit<T>(body: (nouns: WriteContext) => T): Promise<T> {
    const { value, after } = this.transact(body);
    await this.durable();
    for (const action of after) action();
    return value;
  }

  /** For changes that are announced immediately: no frame leaves before the transaction is durable. */
  write<T>(body: (nouns: WriteContext) => T): T {
    const { value, after } = this.transact(body);
    for (const action of after) action();
    return value;
  }

  /** For rows nobody was promised: frames do not wait for it. */
  relaxed<T>(body: (nouns: WriteContext) => T): T {
    const { value, after } = this.transactRelaxed(body);
    for (const action of after) action();
    return value;
  }

  /** Like `write`, but the caller runs the `after` actions, once it has answered. */
  transact<T>(body: (nouns: WriteContext) => T): TransactionResult<T> {
    return this.#transactor.run(() => body(this.#writes));
  }

  /** Like `relaxed`, but the caller runs the `after` actions. */
  transactRelaxed<T>(body: (nouns: WriteContext) => T): TransactionResult<T> {
    return this.#transactor.relaxed(() => body(this.#writes));
  }

  /** Resolves when everything written so far is durable; rejects if that failed. */
  durable(): Promise<void> {
    return this.ports.sql.waitUntilDurable();
  }

  /**
   * Runs work that the kernel does for itself, where no caller would catch an error. Returns false if storage failed. The rows then
   * stay as they are: `onRollback` drops those of closed sockets, and a wake retries.
   */
  attempt(action: () => void): boolean {
    try {
      action();
      return true;
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.ports.log.error("storage failed", { error: error.message });
      return false;
    }
  }

  /** Asks for a wake no later than `dueAt`. */
  wakeBy(dueAt: number | null): void {
    if (dueAt === null || (this.#wakeAt !== null && this.#wakeAt <= dueAt)) return;
    this.#wakeAt = dueAt;
    this.ports.clock.wakeAt(dueAt);
  }

  onWake(): void {
    this.#wakeAt = null;
  }

  onRollback(): void {
    this.nouns.connections.clearCaches();
    this.nouns.files.clearCaches();
    this.nouns.config.clearCaches();
    this.nouns.mcpServers.clearCaches();
    clearRowCaches(this.nouns);
  }
}

/** The caches that do not distinguish between a rollback and a lost batch. */
function clearRowCaches({
  capabilities,
  groups,
  devices,
  processes,
  processSettings,
  followers,
  modelFailures,
  spending,
  signalWatches,
  pushSubscriptions,
}: Nouns): void {
  for (const noun of [
    capabilities,
    groups,
    devices,
    processes,
    processSettings,
    followers,
    modelFailures,
    spending,
    signalWatches,
    pushSubscriptions,
  ])
    noun.clearCaches();
}
