// A server that must receive no requests; `hits` counts those it gets. It also serves a page of another origin.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Canary {
  readonly hits: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      if (request.url === "/page")
        return void response.setHeader("content-type", "text/html").end("<!doctype html><title>elsewhere</title>");
      if (request.url !== "/favicon.ico") this.hits.push(request.url ?? "");
      response.end();
    });
  }

  static async start(): Promise<Canary> {
    const canary = new Canary();
    await new Promise<void>((resolve) => canary.#server.listen(0, "127.0.0.1", resolve));
    return canary;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
