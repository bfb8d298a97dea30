// Sends signals to the sockets they concern. A signal that announces a change leaves after the change is durable, because
// no frame leaves while its batch is open.

import type { Sockets } from "../ports/sockets.ts";
import { ROOT_UID } from "../protocol/caller.ts";
import { encodeSignalFrame } from "../protocol/frames.ts";
import type { NotificationRecord } from "../protocol/notification-records.ts";
import {
  DEVICE_STATUS,
  EXEC_STATUS,
  type NOTIFICATION_CREATED,
  type NOTIFICATION_DISMISSED,
  type NOTIFICATION_UPDATED,
  SYS_CHANGED,
} from "../protocol/signal-names.ts";
import type { ChangedKind, Payload } from "../protocol/signals.ts";
import { userOfKey } from "./config-keys.ts";
import type { Device } from "./nouns/devices.ts";
import type { Nouns } from "./nouns/nouns.ts";

export type NotificationSignal = typeof NOTIFICATION_CREATED | typeof NOTIFICATION_UPDATED | typeof NOTIFICATION_DISMISSED;

type EmitNouns = Pick<Nouns, "connections" | "devices" | "groups" | "accounts">;

export class SignalEmitter {
  readonly #sockets: Sockets;
  readonly #nouns: EmitNouns;

  constructor(sockets: Sockets, nouns: EmitNouns) {
    this.#sockets = sockets;
    this.#nouns = nouns;
  }

  /** Sent to the user who started the command. */
  sendExecStatus(uid: number, payload: Payload<typeof EXEC_STATUS>): void {
    const text = encodeSignalFrame(EXEC_STATUS, payload);
    for (const socketId of this.#nouns.connections.idsOfUser(uid, "user")) this.#sockets.send(socketId, text);
  }

  /** Something that lists show has changed, so clients that show it must refetch. Sent to the user it belongs to and to root. */
  announceChanges(uid: number, changes: readonly ChangedKind[]): void {
    this.#sendChanges(new Set([uid, ROOT_UID].flatMap((one) => this.#nouns.connections.idsOfUser(one, "user"))), changes);
  }

  #sendChanges(socketIds: Iterable<string>, changes: readonly ChangedKind[]): void {
    const text = encodeSignalFrame(SYS_CHANGED, { changes: [...changes] });
    for (const socketId of socketIds) this.#sockets.send(socketId, text);
  }

  /** A setting under `users/<uid>/` belongs to that user, any other to everybody. */
  announceConfigChange(key: string): void {
    const owner = userOfKey(key);
    if (owner !== null) return this.announceChanges(owner, ["config"]);
    this.#sendChanges(this.#nouns.connections.idsOfRole("user"), ["config"]);
  }

  sendNotification(uid: number, signal: NotificationSignal, notification: NotificationRecord): void {
    const socketIds = this.#nouns.connections.idsOfUser(uid, "user");
    if (socketIds.length === 0) return;
    const text = encodeSignalFrame(signal, { notification });
    for (const socketId of socketIds) this.#sockets.send(socketId, text);
  }

  sendDeviceStatus(event: "connected" | "disconnected", deviceKey: string, driverConnectionId: string): void {
    for (const [at, { uid, device }] of this.#listDeviceUsers(deviceKey).entries()) {
      const text = encodeSignalFrame(DEVICE_STATUS, { event, device });
      for (const socketId of this.#nouns.connections.idsOfUser(uid, "user")) this.#sockets.send(socketId, text);
      if (at === 0 && event === "connected") this.#sockets.send(driverConnectionId, text);
    }
  }

  /** The users who may use a device, each with the device as they see it. The owner comes first. */
  #listDeviceUsers(deviceKey: string): { uid: number; device: Device }[] {
    const { devices, groups, accounts } = this.#nouns;
    const owner = devices.get(deviceKey)?.ownerUid;
    if (owner === undefined) return [];
    const members = devices.gidsOf(deviceKey).flatMap((gid) => groups.get(gid)?.members ?? []);
    const uids = new Set([owner, ROOT_UID, ...members.flatMap((username) => accounts.findByName(username)?.uid ?? [])]);
    return [...uids].flatMap((uid) => {
      const account = accounts.findByUid(uid);
      const details = account && devices.details(accounts.identityOf(account), deviceKey);
      if (details === undefined) return [];
      const { description: _, implements: __, ...device } = details;
      return { uid, device };
    });
  }
}
