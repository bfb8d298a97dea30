// The WebSocket to use: always that of ws. Node's own exists from 22 on, but brings undici along, which costs a short
// command more than all the rest of it.

import type { SocketConstructor } from "../client/line.ts";

export async function socketConstructor(): Promise<SocketConstructor> {
  return (await import("ws")).WebSocket;
}
