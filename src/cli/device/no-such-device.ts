// What is said of a device that one cannot use: its name, those there are, and the one that was meant. A foreign device is told
// like one that does not exist, because the gateway does not tell them apart.

import { CallError, type Client } from "../../client/client.ts";
import { near } from "../terminal/suggest.ts";
import { Problem } from "../terminal/problem.ts";

/** The gateway's words for a device that the caller may not use, and for one that root may and that is not connected. */
const UNKNOWN = /^(?:Access denied to|Unknown) device: (.+)$/s;
const AWAY = /^Device offline: (.+)$/s;

/** The failure, or where it is about a device that one does not have, what to do about that. */
export async function explainDevice(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof CallError)) return error;
  const [, name] = (error.code === 503 ? AWAY : UNKNOWN).exec(error.message) ?? [];
  if (name === undefined) return error;
  const devices = await devicesOf(client);
  // Root may use every device, so one that never connected is only offline to it.
  if (error.code === 503 && devices?.some(({ deviceId }) => deviceId === name) !== false) return error;
  return problemWith(name, devices);
}

export async function noSuchDevice(client: Client, name: string): Promise<Problem> {
  return problemWith(name, await devicesOf(client));
}

type Device = { deviceId: string; online: boolean };

/** Null where one may not even list them, or nobody answers any more. */
async function devicesOf(client: Client): Promise<Device[] | null> {
  return client.call("sys.device.list", { includeOffline: true }).then(
    ({ devices }) => devices,
    () => null,
  );
}

function problemWith(name: string, devices: readonly Device[] | null): Problem {
  const said = `no such device: ${name}`;
  if (devices === null) return new Problem(said);
  if (devices.length === 0) return new Problem(`${said}. You have none yet: gsv token create --device NAME shows how to add one`);
  const [meant] = near(
    name,
    devices.map(({ deviceId }) => deviceId),
  );
  const yours = devices.map(({ deviceId, online }) => (online ? deviceId : `${deviceId} (offline)`)).join(", ");
  return new Problem(`${said}. ${meant === undefined ? "" : `Did you mean ${meant}? `}Yours: ${yours}`);
}
