// A kernel on in-memory ports, driven by hand: for the minimal reproductions of what the simulator found. The wire has no
// latency; a batch is committed when the test commits it, or by `quiet`.

import { Kernel } from "../../src/kernel/kernel.ts";
import { LimitedLog } from "../../src/ports/limited-log.ts";
import {
  Agenda,
  MemoryRepositories,
  NO_PROCESSES,
  MemoryShells,
  MemoryBlobs,
  MemoryClock,
  memoryCrypto,
  memoryLog,
  memoryNet,
  MemorySockets,
  MemorySql,
  Random,
  silentMeter,
  memoryVitals,
} from "../support/memory-ports.ts";
import type { ProcessActors } from "../../src/ports/actors.ts";
import type { Data } from "./requests.ts";

export type Heard = { type: string; id: string; signal?: string; ok?: boolean; data?: Data; error?: { code: number; message: string } };

export class Desk {
  readonly sql = new MemorySql();
  readonly blobs = new MemoryBlobs();
  readonly agenda = new Agenda(new Random("desk"), 1_763_200_000_000);
  readonly incidents: string[] = [];
  readonly heard = new Map<string, Heard[]>();
  readonly closed = new Map<string, string>();
  wakes = 0;
  kernel: Kernel;
  readonly sockets: MemorySockets;
  readonly #start: () => Kernel;
  #count = 0;

  /** `processes` creates the processes; without it there are none. */
  constructor(processes?: (desk: Desk) => ProcessActors) {
    this.sockets = new MemorySockets({
      agenda: this.agenda,
      random: new Random("wires"),
      sql: this.sql,
      events: () => this.kernel,
      watch: {
        sent() {},
        left: (socketId, text) => void this.heard.get(socketId)?.push(JSON.parse(text) as Heard),
        closing: (socketId, _code, reason) => void this.closed.set(socketId, reason),
        gone() {},
      },
      latency: { delayMs: () => 0, noticeMs: () => 0, answersGoodbye: () => false },
    });
    const clock = new MemoryClock(this.agenda, () => {
      this.wakes++;
      this.kernel.onWake();
    });
    const crypto = memoryCrypto(
      new Random("crypto"),
      (value) => new Promise((resolve) => this.agenda.after(100, "hashed", () => resolve(value), "kernel")),
    );
    const ports = {
      sql: this.sql,
      processes: processes?.(this) ?? NO_PROCESSES,
      repositories: new MemoryRepositories(),
      shells: new MemoryShells(),
      blobs: this.blobs,
      clock,
      sockets: this.sockets,
      crypto,
      net: memoryNet(),
      log: new LimitedLog(
        memoryLog((line) => this.incidents.push(line)),
        () => clock.now(),
      ),
      meter: silentMeter,
      vitals: memoryVitals(),
    };
    const model = { provider: "demo", model: "demo" };
    this.#start = () => new Kernel(ports, { version: "0.0.0-desk", host: "memory", setupAccess: { open: true }, model });
    this.kernel = this.#start();
    this.sql.onFailure(() => this.kernel.onRollback());
  }

  /** Alice is the first user; root has a separate password. */
  static async populated(processes?: (desk: Desk) => ProcessActors): Promise<Desk> {
    const desk = new Desk(processes);
    await desk.call(desk.open(), "sys.setup", { username: "alice", password: "alice first", rootPassword: "root first" });
    return desk;
  }

  open(address = "10.0.0.1"): string {
    const socketId = this.sockets.open(address, { text() {}, closed() {} });
    this.heard.set(socketId, []);
    return socketId;
  }

  /** Passes a request to the kernel; nothing is committed and no time passes. */
  ask(socketId: string, call: string, args: Data = {}, more: Data = {}): string {
    const id = `r${++this.#count}`;
    this.kernel.onFrame(socketId, JSON.stringify({ type: "req", id, call, args, ...more }));
    return id;
  }

  answer(socketId: string, id: string): Heard | undefined {
    return this.heard.get(socketId)?.find((frame) => frame.type === "res" && frame.id === id);
  }

  async call(socketId: string, call: string, args: Data = {}): Promise<Heard> {
    const id = this.ask(socketId, call, args);
    await this.quiet();
    return this.answer(socketId, id) ?? { type: "none", id };
  }

  async enter(username: string, proof: { password: string } | { token: string }, as: Data = {}): Promise<string> {
    const socketId = this.open();
    const { ok, error } = await this.call(socketId, "sys.connect", connectArgs(username, proof, as));
    if (ok !== true) throw new Error(`could not enter: ${error?.message}`);
    return socketId;
  }

  /** Lets everything in progress finish within the next second. */
  async quiet(): Promise<void> {
    for (let i = 0; i < 4; i++) {
      await this.pass(250);
      this.sql.commit();
    }
    await yieldToLoop();
  }

  async pass(ms: number): Promise<void> {
    const until = this.agenda.now + ms;
    await yieldToLoop();
    for (let item = this.agenda.take(until); item !== undefined; item = this.agenda.take(until)) {
      item.run();
      await yieldToLoop();
    }
  }

  /** Memory is lost, sockets stay open. */
  hibernate(): void {
    this.sql.commit();
    this.kernel = this.#start();
    this.sql.commit();
  }

  crash(): void {
    this.agenda.drop("kernel");
    this.sql.crash();
    this.sockets.crash();
    this.kernel = this.#start();
  }
}

export function connectArgs(username: string, proof: Data, as: Data = {}): Data {
  const role = as.role ?? "user";
  const driver = role === "driver" ? { driver: { implements: ["fs.*"] } } : {};
  return { protocol: 1, client: { id: "desk", role, ...as }, ...driver, auth: { username, ...proof } };
}

function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
