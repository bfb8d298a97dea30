// The WebSocket to use: always that of ws. Node's own exists from 22 on, but brings undici along, which costs a short
// command more than all the rest of it.

import type { SocketConstructor } from "../../client/connection.ts";
import { isLoopback } from "../../lib/address.ts";

export async function socketConstructor(): Promise<SocketConstructor> {
  const { WebSocket } = await import("ws");
  return class extends WebSocket {
    constructor(url: string) {
      super(url, isUnseen(url) ? { generateMask: leaveZero } : {});
    }
  };
}

/**
 * Masks keep what a client sends from looking like something else to a proxy that does not know WebSockets. Where none can
 * see it, inside TLS or on this machine, they only cost time: a quarter of what sending a large file takes.
 */
export function isUnseen(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "wss:" || isLoopback(hostname);
}

/** With a mask of zeros neither end has anything to do. */
function leaveZero(): void {}
