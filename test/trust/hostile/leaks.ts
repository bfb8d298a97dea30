// Searches everything that leaves the gateway for planted secrets, in any spelling.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** An outside server that receives exfiltrated data. */
export class Listener {
  readonly heard: string[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.heard.push(`${request.method} ${request.url}`);
      response.end("thanks");
    });
    this.#server.on("connection", () => this.heard.push("a connection"));
  }

  static async start(): Promise<Listener> {
    const listener = new Listener();
    await new Promise<void>((resolve) => listener.#server.listen(0, "127.0.0.1", resolve));
    return listener;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The names of the secrets that a text contains. */
export function leaked(text: string, secrets: Record<string, string>): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => (spellings(secret).some((one) => text.includes(one)) ? name : []));
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // Within a longer text, base64 of the secret starts at one of three offsets.
  const within = [0, 1, 2].map((skip) =>
    Buffer.concat([Buffer.alloc(skip), bytes])
      .toString("base64")
      .slice(skip === 0 ? 0 : 4, -4),
  );
  return [secret, bytes.toString("hex"), Array.from(secret).toReversed().join(""), encodeURIComponent(secret), ...within];
}
