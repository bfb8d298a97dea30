// The error for a device that the user cannot use: its name, the user's devices, and the likely intended one. Another user's
// device gives the same error as one that does not exist, because the gateway does not tell them apart.

import { CallError, type Client } from "../../client/client.ts";
import { findSimilar } from "../terminal/suggest.ts";
import { Problem } from "../terminal/problem.ts";

/** The gateway's messages for a device that the caller may not use, and for one that they may use and that is not connected. */
const UNKNOWN = /^(?:Access denied to|Unknown) device: (.+)$/s;
const OFFLINE = /^Device offline: (.+)$/s;

/** Returns the error, or if it is about a device that the user does not have, a Problem that says what to do. */
export async function explainDeviceError(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof CallError)) return error;
  const [, name] = (error.code === 503 ? OFFLINE : UNKNOWN).exec(error.message) ?? [];
  if (name === undefined) return error;
  const devices = await listDevices(client);
  // Root may use every device, so the gateway reports an unknown device to root as offline.
  if (error.code === 503 && devices?.some(({ deviceId }) => deviceId === name) !== false) return error;
  return makeNoSuchDeviceProblem(name, devices);
}

export async function explainNoSuchDevice(client: Client, name: string): Promise<Problem> {
  return makeNoSuchDeviceProblem(name, await listDevices(client));
}

type Device = { deviceId: string; online: boolean };

/** Null if the user may not list devices, or the gateway no longer answers. */
async function listDevices(client: Client): Promise<Device[] | null> {
  return client.call("sys.device.list", { includeOffline: true }).then(
    ({ devices }) => devices,
    () => null,
  );
}

function makeNoSuchDeviceProblem(name: string, devices: readonly Device[] | null): Problem {
  const message = `no such device: ${name}`;
  if (devices === null) return new Problem(message);
  if (devices.length === 0) return new Problem(`${message}. You have none yet. To add one: gsv token create --device NAME`);
  const [meant] = findSimilar(
    name,
    devices.map(({ deviceId }) => deviceId),
  );
  const yours = devices.map(({ deviceId, online }) => (online ? deviceId : `${deviceId} (offline)`)).join(", ");
  return new Problem(`${message}. ${meant === undefined ? "" : `Did you mean ${meant}? `}Your devices: ${yours}`);
}
