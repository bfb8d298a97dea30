// The WebSocket class to use: always that of ws. Node has its own since 22, but it loads undici, which costs a short command more
// than all the rest.

import type { SocketConstructor } from "../../client/connection.ts";
import { isLoopback } from "../../lib/address.ts";

export async function socketConstructor(): Promise<SocketConstructor> {
  const { WebSocket } = await import("ws");
  return class extends WebSocket {
    constructor(url: string) {
      super(url, isHiddenFromProxies(url) ? { generateMask: leaveZero } : {});
    }
  };
}

/**
 * Masking keeps client data from looking like another protocol to a proxy that does not know WebSockets. Where no proxy can see
 * the data, inside TLS or on this machine, masking only costs time: a quarter of sending a large file.
 */
export function isHiddenFromProxies(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "wss:" || isLoopback(hostname);
}

/** Leaves the mask at zero, so that neither end has anything to do. */
function leaveZero(): void {}
