// The device daemon: connects outwards, stays connected, and carries out the hardware syscalls on this machine's real
// files and shell. It is the same code as the gateway's own target; only the machine under it differs.

import { connect, type Auth, type Client, type SocketConstructor } from "../client/client.ts";
import { CallError } from "../client/line.ts";
import { decode } from "../gate/decode.ts";
import type { HardwareLimits, Machine } from "../hardware/filesystem.ts";
import { NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { hashPieces } from "../hosts/shared/crypto.ts";
import { LinePlaces } from "../hardware/line-places.ts";
import { VERSION } from "../protocol/version.ts";
import { hardwareCalls } from "../syscalls/hardware.table.ts";
import { environment } from "./environment.ts";
import { MachineFiles } from "./files.ts";
import { MachineShell } from "./shell.ts";

export type DeviceOptions = {
  url: string;
  auth: Auth;
  deviceId: string;
  /** Where relative paths begin. */
  workspace: string;
  WebSocket?: SocketConstructor;
  log?: (message: string, fields?: DeviceEvent) => void;
  waitMs?: number;
};

/** What is worth a line in a log. Arguments and results are not: they are people's files and commands. */
export type DeviceEvent = { call?: string; ms?: number; outcome?: "ok" | "refused" | "failed"; reason?: string | undefined };

export type RunningDevice = {
  client: Client;
  close(): void;
  /** Ends what runs here, and closes. */
  stop(): Promise<void>;
};

/** A picture in base64 has to fit into a frame that the gateway takes. */
const DEVICE_LIMITS: HardwareLimits = { ...NATIVE_LIMITS, imageBytes: 10 * 1024 * 1024 };

export async function startDevice(options: DeviceOptions): Promise<RunningDevice> {
  const { url, auth, deviceId, workspace, log = () => {} } = options;
  const files = new MachineFiles(workspace);
  const shell = new MachineShell({
    files,
    env: environment(process.env, deviceId),
    ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
  });
  const machine: Machine = {
    files,
    shell,
    limits: DEVICE_LIMITS,
    now: () => Date.now(),
    signal: new AbortController().signal,
    places: new LinePlaces(),
  };
  const table = new Map(hardwareCalls.map((call) => [call.name, call]));
  const client = await connect({
    url,
    auth,
    client: { id: deviceId, version: VERSION, platform: process.platform, role: "driver" },
    driver: { implements: ["fs.*", "shell.*"] },
    ...(options.WebSocket === undefined ? {} : { WebSocket: options.WebSocket }),
    newHash: hashPieces,
    async answer({ call: name, args }, body) {
      const call = table.get(name);
      if (call?.runs !== "hardware") throw new CallError({ code: 404, message: `Unknown syscall: ${name}` });
      const { target: _, ...rest } = decode(call.args, args) as { target?: string };
      const startedAt = performance.now();
      let outcome: DeviceEvent["outcome"] = "failed";
      try {
        const result: unknown = await call.run(body === undefined ? machine : { ...machine, body }, rest as never);
        outcome = (result as { ok?: boolean }).ok === false ? "refused" : "ok";
        return result;
      } finally {
        log("call", { call: name, ms: Math.round(performance.now() - startedAt), outcome });
      }
    },
  });
  client.onStatus = (status, reason) => log(status, { reason: reason?.message });
  const stop = async () => {
    await shell.endAll("The device is stopping");
    client.close();
  };
  return { client, close: () => client.close(), stop };
}
