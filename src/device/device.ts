// The device daemon: connects outwards, stays connected, and runs the hardware syscalls on this machine's real files and shell.
// It is the same code as the gateway's own target; only the machine under it differs.

import { join } from "node:path";
import { connect, type Auth, type Client, type SocketConstructor } from "../client/client.ts";
import { CallError } from "../client/connection.ts";
import { decodeArgs } from "../calls/decode.ts";
import type { HardwareLimits, Machine } from "../hardware/filesystem.ts";
import { NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { makeHasher } from "../hosts/shared/crypto.ts";
import { makeMachineVitals } from "../hosts/shared/machine-vitals.ts";
import { LinePositions } from "../hardware/line-places.ts";
import { VERSION } from "../protocol/version.ts";
import { hardwareCalls } from "../hardware/calls/table.ts";
import { makeCommandEnvironment } from "./environment.ts";
import { MachineFiles } from "./files.ts";
import { CancellableCalls } from "./cancels.ts";
import { Ledger } from "./ledger.ts";
import { MachineShell } from "./shell.ts";
import { CommandStatusReporter } from "./statuses.ts";
import { EXEC_STATUS, REQ_CANCEL } from "../protocol/signal-names.ts";

export type DeviceOptions = {
  url: string;
  auth: Auth;
  deviceId: string;
  /** The base of relative paths. */
  workspace: string;
  WebSocket?: SocketConstructor;
  log?: (message: string, fields?: DeviceEvent) => void;
  waitMs?: number;
  /** Folder of the daemon's state (state.ts). Without one it accepts no keys. */
  state?: string;
};

/** The fields of a log line. Arguments and results are never logged: they are people's files and commands. */
export type DeviceEvent = { call?: string; ms?: number; outcome?: "ok" | "refused" | "failed"; reason?: string | undefined };

export type RunningDevice = {
  client: Client;
  close(): void;
  /** Ends all commands and closes the connection. */
  stop(): Promise<void>;
};

/** An image in base64 has to fit into a frame that the gateway accepts. */
const DEVICE_LIMITS: HardwareLimits = { ...NATIVE_LIMITS, imageBytes: 10 * 1024 * 1024 };

const CANCELLED = "The caller cancelled it";

export async function startDevice(options: DeviceOptions): Promise<RunningDevice> {
  const { url, auth, deviceId, workspace, log = () => {} } = options;
  const files = new MachineFiles(workspace);
  const ledger = options.state === undefined ? null : new Ledger(join(options.state, "ledger.jsonl"));
  const statuses = new CommandStatusReporter((event) => connected?.signal(EXEC_STATUS, event) ?? false);
  const shell = new MachineShell({
    files,
    onStart: (sessionId, done) => {
      statuses.track(sessionId, done);
      void done.finally(() => cancels.removeCallOfSession(sessionId)).catch(() => {});
    },
    env: makeCommandEnvironment(process.env, deviceId),
    ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
  });
  const cancels = new CancellableCalls((sessionId) => void shell.end(sessionId, CANCELLED));
  const readVitals = makeMachineVitals(workspace);
  const places = new LinePositions();
  const machine: Omit<Machine, "signal"> = { files, shell, limits: DEVICE_LIMITS, now: () => Date.now(), places, readVitals };
  const table = new Map(hardwareCalls.map((call) => [call.name, call]));
  let connected: Client | null = null;
  const client = await connect({
    url,
    auth,
    client: { id: deviceId, version: VERSION, platform: process.platform, role: "driver" },
    driver: { implements: ["fs.*", "shell.*", "sys.vitals"], ledger: ledger !== null },
    ...(options.WebSocket === undefined ? {} : { WebSocket: options.WebSocket }),
    newHash: makeHasher,
    async answer(request, body) {
      const { id, call: name, args, key } = request;
      const call = table.get(name);
      if (call?.runs !== "hardware") throw new CallError({ code: 404, message: `Unknown syscall: ${name}` });
      const { target: _, ...rest } = decodeArgs(call.args, args) as { target?: string };
      const startedAt = performance.now();
      let outcome: DeviceEvent["outcome"] = "failed";
      try {
        const run = (signal: AbortSignal) => call.run({ ...machine, signal, ...(body === undefined ? {} : { body }) }, rest);
        const isRecorded = ledger !== null && key !== undefined && call.does !== "read";
        const entry = isRecorded && { key, call: name, args: rest, isPoll: isPoll(rest) };
        const result = await cancels.run(request, (signal) => (entry ? ledger.runOnce(entry, () => run(signal)) : run(signal)));
        const { sessionId } = result as { sessionId?: unknown };
        if (typeof sessionId === "string") statuses.reportStart(sessionId, id);
        outcome = (result as { ok?: boolean }).ok === false ? "refused" : "ok";
        return result;
      } finally {
        log("call", { call: name, ms: Math.round(performance.now() - startedAt), outcome });
      }
    },
  }).catch((error: unknown) => {
    ledger?.close();
    throw error;
  });
  connected = client;
  client.onSignal(({ signal, payload }) => {
    if (signal === REQ_CANCEL) cancels.cancel(payload);
  });
  client.onStatus = (status, reason) => {
    log(status, { reason: reason?.message });
    if (status === "connected") statuses.flush();
    else statuses.onDisconnect();
    if (status === "closed") ledger?.close();
  };
  const stop = async () => {
    await shell.endAll("The device is stopping");
    client.close();
  };
  return { client, close: () => client.close(), stop };
}

/** Whether the call only polls a command for more output. */
function isPoll({ sessionId, input }: { sessionId?: unknown; input?: unknown }): boolean {
  return sessionId !== undefined && input === "";
}
