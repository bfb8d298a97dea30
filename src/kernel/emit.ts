// Signals to the sockets they concern. A signal that announces a change is sent after the change is durable, because
// nothing leaves while its batch is open.

import type { Sockets } from "../ports/sockets.ts";
import { ROOT_UID } from "../protocol/caller.ts";
import { signalFrame } from "../protocol/frames.ts";
import { DEVICE_STATUS, EXEC_STATUS, SYS_CHANGED } from "../protocol/signal-names.ts";
import type { Changed, Payload } from "../protocol/signals.ts";
import type { Connections } from "./nouns/connections.ts";
import type { Device } from "./nouns/devices.ts";

/** Who may use a device, with what each of them sees of it. Its owner is the first. */
export type UsersOf = (deviceKey: string) => readonly { uid: number; device: Device }[];

export class Emit {
  readonly #sockets: Sockets;
  readonly #connections: Connections;
  readonly #usersOf: UsersOf;

  constructor(sockets: Sockets, connections: Connections, usersOf: UsersOf) {
    this.#sockets = sockets;
    this.#connections = connections;
    this.#usersOf = usersOf;
  }

  /** To whoever started the command. */
  execStatus(uid: number, payload: Payload<typeof EXEC_STATUS>): void {
    const text = signalFrame(EXEC_STATUS, payload);
    for (const socketId of this.#connections.ofUser(uid, "user")) this.#sockets.send(socketId, text);
  }

  /** Something that lists show has changed: whoever looks at it reads it again. To those it concerns, and to root. */
  changed(uid: number, changes: readonly Changed[]): void {
    const to = new Set([uid, ROOT_UID].flatMap((one) => this.#connections.ofUser(one, "user")));
    if (to.size === 0) return;
    const text = signalFrame(SYS_CHANGED, { changes: [...changes] });
    for (const socketId of to) this.#sockets.send(socketId, text);
  }

  deviceStatus(event: "connected" | "disconnected", deviceKey: string, driverConnectionId: string): void {
    for (const [at, { uid, device }] of this.#usersOf(deviceKey).entries()) {
      const text = signalFrame(DEVICE_STATUS, { event, device });
      for (const socketId of this.#connections.ofUser(uid, "user")) this.#sockets.send(socketId, text);
      if (at === 0 && event === "connected") this.#sockets.send(driverConnectionId, text);
    }
  }
}
