// Signals to the sockets they concern. A signal that announces a change is sent after the change is durable, because
// nothing leaves while its batch is open.

import type { Sockets } from "../ports/sockets.ts";
import { ROOT_UID } from "../protocol/caller.ts";
import type { Connections } from "./nouns/connections.ts";
import type { Device } from "./nouns/devices.ts";

export class Emit {
  readonly #sockets: Sockets;
  readonly #connections: Connections;

  constructor(sockets: Sockets, connections: Connections) {
    this.#sockets = sockets;
    this.#connections = connections;
  }

  deviceStatus(event: "connected" | "disconnected", device: Device, driverConnectionId: string): void {
    const users = [...this.#connections.ofUser(device.ownerUid, "user"), ...this.#connections.ofUser(ROOT_UID, "user")];
    const to = new Set(event === "connected" ? [...users, driverConnectionId] : users);
    const text = JSON.stringify({ type: "sig", signal: "device.status", payload: { event, device } });
    for (const socketId of to) this.#sockets.send(socketId, text);
  }
}
