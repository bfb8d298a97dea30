// The WebSocket class to use: always the one of ws. Node's own, since version 22, loads undici, which takes longer than everything
// else in a short command.

import type { SocketConstructor } from "../../client/connection.ts";
import { isLoopback } from "../../lib/address.ts";

export async function loadSocketConstructor(): Promise<SocketConstructor> {
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

/** Leaves the mask at zero, so that neither end spends time on masking. */
function leaveZero(): void {}
