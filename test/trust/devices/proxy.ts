// A connection that can be cut: TCP through a local port, ended after a given number of bytes in one direction.

import { createServer, connect, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export type Direction = "down" | "up";

export class Proxy {
  readonly #server: Server;
  readonly #pairs = new Set<[Socket, Socket]>();
  /** Bytes that have passed to the device, and from it. */
  readonly passed: Record<Direction, number> = { down: 0, up: 0 };
  #cutAt: { direction: Direction; bytes: number } | null = null;
  #toPort: number;

  static async to(port: number): Promise<Proxy> {
    const proxy = new Proxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  constructor(port: number) {
    this.#toPort = port;
    this.#server = createServer((near) => this.#join(near));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all connections once that many more bytes have passed; the bytes themselves still pass. */
  cutAfter(direction: Direction, bytes: number): void {
    this.#cutAt = { direction, bytes: this.passed[direction] + bytes };
    this.#check();
  }

  cut(): void {
    this.#cutAt = null;
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket): void {
    const far = connect(this.#toPort, "127.0.0.1");
    const pair: [Socket, Socket] = [near, far];
    this.#pairs.add(pair);
    this.#pipe(near, far, "up");
    this.#pipe(far, near, "down");
    const end = () => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
  }

  #pipe(from: Socket, to: Socket, direction: Direction): void {
    from.on("data", (chunk: Buffer) => {
      const limit = this.#cutAt?.direction === direction ? this.#cutAt.bytes - this.passed[direction] : Infinity;
      const passing = chunk.subarray(0, Math.max(0, limit));
      this.passed[direction] += passing.length;
      if (passing.length > 0) to.write(passing, () => this.#check());
      else this.#check();
    });
  }

  #check(): void {
    const at = this.#cutAt;
    if (at !== null && this.passed[at.direction] >= at.bytes) this.cut();
  }
}
