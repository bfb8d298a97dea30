// One simulated gateway: the real kernel on in-memory ports, with this file as the host, and the faults that may occur between
// any two steps. Decides nothing that the kernel should decide.

import { Kernel } from "../../src/kernel/kernel.ts";
import { LimitedLog } from "../../src/ports/limited-log.ts";
import {
  Agenda,
  MemoryRepositories,
  MemoryShells,
  MemoryBlobs,
  MemoryProcesses,
  MemoryClock,
  memoryCrypto,
  memoryLog,
  memoryNet,
  MemorySockets,
  MemorySql,
  type PeerEnd,
  Random,
  silentMeter,
  memoryVitals,
} from "../support/memory-ports.ts";
import { ProviderModels } from "../../src/models/models.ts";
import { Judge } from "./judge.ts";
import { Trace } from "./trace.ts";

const START_MS = 1_763_200_000_000;
const LATE_MS_MAX = 3_000;
const SLEEP_AFTER_MS = 10_000;
const SLEEP_RETRY_MS = 1_000;
const SLEEP_TRIES = 30;

export type WorldOptions = {
  /** Proves that the judge works: frames leave before their batch is committed. */
  acknowledgesEarly?: boolean;
};

export class World {
  readonly trace = new Trace();
  readonly agenda: Agenda;
  readonly judge: Judge;
  readonly sockets: MemorySockets;
  readonly #sql: MemorySql;
  readonly #processes: MemoryProcesses;
  readonly #ports: ConstructorParameters<typeof Kernel>[0];
  readonly #random: Random;
  #kernel: Kernel | null = null;
  #isCalm = false;
  #hashes = 0;
  #lastEventAt = START_MS;

  constructor(seed: string, options: WorldOptions = {}) {
    const stream = (name: string) => new Random(`${seed}/${name}`);
    this.#random = stream("faults");
    this.agenda = new Agenda(stream("order"), START_MS);
    this.#sql = new MemorySql((batch) => this.#scheduleCommit(batch));
    this.judge = new Judge(this.#sql, () => this.agenda.now, LATE_MS_MAX);
    const gate = options.acknowledgesEarly ? withoutGate(this.#sql) : this.#sql;
    const wires = stream("wires");
    this.sockets = new MemorySockets({
      agenda: this.agenda,
      random: wires,
      sql: gate,
      events: () => this.#makeEvents(),
      watch: {
        sent: (socketId, text) => this.judge.sent(socketId, text),
        left: (socketId, text) => {
          this.trace.add(this.agenda.now, `left ${socketId} ${text}`);
          this.judge.left(socketId, text);
        },
        closing: (socketId, code, reason) => {
          this.trace.add(this.agenda.now, `closing ${socketId} ${code} ${reason}`);
          this.judge.closing(socketId);
        },
        gone: (socketId) => this.judge.gone(socketId),
      },
      latency: { delayMs: () => latency(wires), noticeMs: () => wires.between(0, 15_000), answersGoodbye: () => wires.chance(0.8) },
    });
    const wakes = stream("wakes");
    const clock = new MemoryClock(this.agenda, () => this.#woke(), {
      lateMs: () => (wakes.chance(0.1) ? wakes.between(0, LATE_MS_MAX) : wakes.between(0, 5)),
      twice: () => wakes.chance(0.1),
    });
    const crypto = memoryCrypto(stream("crypto"), (value) => this.#delayHash(value));
    const net = memoryNet();
    const now = () => Math.floor(this.agenda.now);
    this.#processes = new MemoryProcesses({
      models: new ProviderModels({ net, crypto, now }),
      kernel: () => ({
        kernelPortFor: (pid) => this.#kernel!.kernelPortFor(pid),
        archiveRootOf: (pid) => this.#kernel!.archiveRootOf(pid),
        ownerUidOf: (pid) => this.#kernel!.ownerOf(pid),
      }),
      whenKernelDurable: () => this.#sql.waitUntilDurable(),
      uuid: () => crypto.uuid(),
      now,
      onBatch: (sql) => this.agenda.after(this.#random.between(1, 20), "commit of a process", () => sql.commit(), "kernel"),
      wakeAt: (ms, woke) => this.agenda.at(Math.max(ms, this.agenda.now + 1), "wake of a process", woke, "kernel"),
      log: (message, fields) => this.judge.incident(`${message} ${JSON.stringify(fields)}`),
    });
    this.#ports = {
      sql: this.#sql,
      processes: this.#processes,
      repositories: new MemoryRepositories(),
      shells: new MemoryShells(),
      blobs: new MemoryBlobs(),
      clock,
      sockets: this.sockets,
      crypto,
      net,
      log: new LimitedLog(
        memoryLog((line) => this.judge.incident(line)),
        now,
      ),
      meter: silentMeter,
      vitals: memoryVitals(),
    };
    this.#sql.onFailure(() => {
      this.judge.rolledBack();
      this.#guard("rolledBack", (kernel) => kernel.onRollback());
    });
    this.#start();
  }

  get isUp(): boolean {
    return this.#kernel !== null;
  }

  /** Opens a connection; null if the gateway is down or refuses it. */
  open(address: string, end: PeerEnd): string | null {
    if (this.#kernel === null || this.#kernel.findRefusal(address) !== null) return null;
    return this.sockets.open(address, end);
  }

  /** Causes one fault. */
  fault(): void {
    if (this.#isCalm) return;
    const open = [...this.judge.lines.values()].filter((line) => !line.isGone);
    const kind = this.#random.unit();
    if (kind < 0.6 && open.length > 0) {
      const { socketId } = this.#random.pick(open);
      this.trace.add(this.agenda.now, `cut ${socketId}`);
      this.sockets.cut(socketId);
    } else if (kind < 0.8) this.crash();
    else this.#woke();
  }

  calm(): void {
    this.#isCalm = true;
  }

  crash(): void {
    if (this.#kernel === null) return;
    this.trace.add(this.agenda.now, "crash");
    this.#kernel = null;
    this.#hashes = 0;
    this.agenda.drop("kernel");
    this.#sql.crash();
    this.#processes.crash();
    this.judge.crashed();
    this.sockets.crash();
    this.agenda.after(this.#random.between(1, 3_000), "restart", () => this.#start());
  }

  /** Called once faults have stopped and everything had time to finish. */
  checkQuiet(): void {
    this.judge.checkQuiet(this.#processes);
  }

  close(): void {
    this.#processes.close();
    this.#sql.close();
  }

  #start(): void {
    this.#kernel = new Kernel(this.#ports, {
      version: "0.0.0-sim",
      host: "memory",
      setupAccess: { open: true },
      model: { provider: "demo", model: "demo" },
      // Real timers would make each run of a seed different.
      waits: { yield: async () => {}, pause: async () => {} },
    });
    // As on the Node host: no connection is accepted before the rows written at start are on disk. A start can crash, too.
    if (!this.#isCalm && this.#random.chance(0.05)) return this.crash();
    this.#sql.commit();
    this.judge.checkRows();
  }

  /** Memory is lost, sockets stay open. This happens only to an actor that has had nothing to do for a while, as on Cloudflare. */
  sleep(tries = SLEEP_TRIES): void {
    if (this.#kernel === null) return;
    if (this.#sql.batch !== "none") this.#sql.commit();
    else if (this.#hashes === 0 && this.#processes.isIdle && this.agenda.now - this.#lastEventAt >= SLEEP_AFTER_MS) {
      this.trace.add(this.agenda.now, "hibernated");
      this.judge.hibernated();
      return this.#start();
    }
    if (tries > 0) this.agenda.after(SLEEP_RETRY_MS, "fall asleep", () => this.sleep(tries - 1), "kernel");
  }

  #makeEvents() {
    return {
      onSocketOpened: (socketId: string) => {
        this.judge.opened(socketId);
        this.#guard("opened", (kernel) => kernel.onSocketOpened(socketId));
      },
      onFrame: (socketId: string, text: string) => {
        this.trace.add(this.agenda.now, `received ${socketId} ${text}`);
        this.judge.delivered(socketId, text);
        this.#guard("received", (kernel) => kernel.onFrame(socketId, text));
      },
      onBodyFrame: (socketId: string, bytes: Uint8Array) => this.#guard("receivedBytes", (kernel) => kernel.onBodyFrame(socketId, bytes)),
      onSocketDrained() {},
      onSocketClosed: (socketId: string) => this.#guard("closed", (kernel) => kernel.onSocketClosed(socketId)),
    };
  }

  #woke(): void {
    this.judge.woke();
    this.#guard("woke", (kernel) => kernel.onWake());
  }

  #guard(where: string, work: (kernel: Kernel) => void): void {
    if (this.#kernel === null) return;
    this.#lastEventAt = this.agenda.now;
    try {
      work(this.#kernel);
    } catch (error) {
      this.judge.threw(where, error);
    }
  }

  #scheduleCommit(batch: "relaxed" | "open"): void {
    if (batch === "relaxed") this.agenda.after(250, "lazy commit", () => this.#commit(), "kernel");
    else
      this.agenda.after(
        this.#random.chance(0.1) ? this.#random.between(1, 50) : this.#random.unit(),
        "commit",
        () => this.#commit(),
        "kernel",
      );
  }

  #commit(): void {
    const fails = !this.#isCalm && this.#random.chance(0.01);
    this.#sql.commit(fails ? this.#random.pick(["full", "io"]) : "none");
  }

  #delayHash<T>(value: T): Promise<T> {
    this.#hashes++;
    return new Promise((resolve) => {
      this.agenda.after(
        this.#random.between(30, 400),
        "hashed",
        () => {
          this.#hashes--;
          resolve(value);
        },
        "kernel",
      );
    });
  }
}

function latency(random: Random): number {
  return random.chance(0.05) ? random.between(0, 2_000) : random.unit() * 10;
}

/** The broken gateway: it holds no frame back. */
function withoutGate(sql: MemorySql): MemorySql {
  return new Proxy(sql, {
    get(target, name) {
      if (name === "holds") return false;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
