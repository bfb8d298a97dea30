// gsv device list, describe, remove and run. `run` makes this machine a device for as long as it runs.

import { CallError } from "../../client/client.ts";
import type { DeviceEvent, RunningDevice } from "../../device/device.ts";
import { type DeviceLog, deviceLogFile, openDeviceLog } from "../device/device-log.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { explainNoSuchDevice } from "../device/no-such-device.ts";
import { EXIT_CANCELLED, Problem } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { loadSocketConstructor } from "../session/socket.ts";
import { printNote, printSentences, printJson, printTable } from "../terminal/terminal.ts";
import { requireDeviceCredentials, type DeviceFlags, resolveThisDevice } from "../device/this-device.ts";

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;

export async function deviceList(flags: Globals & { all?: boolean }): Promise<void> {
  const { devices } = await withClient(flags, (client) => client.call("sys.device.list", { includeOffline: flags.all === true }));
  if (flags.json) return printJson({ devices });
  printTable(
    ["DEVICE", "STATE", "PLATFORM", "SEEN", "DESCRIPTION"],
    devices.map((one) => [
      one.deviceId,
      one.online ? "online" : "offline",
      one.platform || "-",
      formatRelativeTime(one.lastSeenAt, "-"),
      one.description || "-",
    ]),
  );
}

export async function deviceDescribe(flags: Globals, [deviceId = "", ...words]: readonly string[]): Promise<void> {
  const device = await withClient(flags, async (client) => {
    const updated = await client.call("sys.device.update", { deviceId, description: words.join(" ") });
    if (updated.device === null) throw await explainNoSuchDevice(client, deviceId);
    return updated.device;
  });
  if (flags.json) return printJson({ device });
  printSentences(`${device.deviceId}: ${device.description || "(no description)"}`);
}

export async function deviceRemove(flags: Globals, [deviceId = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { removed } = await client.call("sys.device.remove", { deviceId });
    if (!removed) throw await explainNoSuchDevice(client, deviceId);
  });
  if (flags.json) return printJson({ removed: true });
  printSentences(`Removed ${deviceId}. Its token stays valid; to revoke it: gsv token list, gsv token revoke ID.`);
}

/** Runs until a signal ends it, and reconnects whenever the gateway is back. With a log file it runs unattended. */
export async function deviceRun(flags: DeviceFlags & { logFile?: string | true }): Promise<void> {
  const device = requireDeviceCredentials(resolveThisDevice(flags));
  const { address, deviceId, workspace, username, token } = device;
  const isAttended = flags.logFile === undefined;
  const log = isAttended ? logToTerminal : openDeviceLog(flags.logFile === true ? deviceLogFile(device) : flags.logFile!);
  const { startDevice } = await import("../../device/device.ts");
  const { stateFolder } = await import("../../device/state.ts");
  const WebSocket = await loadSocketConstructor();
  const logEvent = (message: string, fields: DeviceEvent = {}) =>
    log(message === "call" || message === "connected" ? "info" : "warn", message, fields);
  let running: RunningDevice | null = null;
  stopOnSignal(async (signal) => {
    log("info", "ending", { signal });
    await running?.stop();
  });
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    try {
      running = await startDevice({
        url: address.url,
        auth: { username, token },
        deviceId,
        workspace,
        state: stateFolder(deviceId),
        WebSocket,
        log: logEvent,
      });
      if (isAttended)
        printSentences(`${deviceId} is connected to ${address.origin}; relative paths start at ${workspace}. Ctrl-C disconnects it.`);
      else log("info", "connected", { device: deviceId, gateway: address.origin });
      waitMs = RETRY_MS_MIN;
      const { client } = running;
      const reason = await new Promise<Error | null>((end) => {
        const before = client.onStatus;
        client.onStatus = (status, why) => {
          before(status, why);
          if (status === "closed") end(why);
        };
      });
      if (/Replaced by newer/.test(reason?.message ?? "")) {
        const why = `Another machine or program has connected as ${deviceId}: give one of them another --id`;
        if (isAttended) throw new Problem(why);
        // A service would be restarted at once, and the two daemons would replace each other forever.
        log("error", why);
        waitMs = RETRY_MS_MAX;
      }
    } catch (error) {
      if (error instanceof Problem) throw error;
      // Any cause may be fixed while this runs: by a new token, by a restart of the gateway.
      log("warn", "not connected; retrying", { reason: failureReason(error, deviceId) });
    }
    await new Promise((done) => setTimeout(done, waitMs * (0.5 + Math.random())));
  }
}

function failureReason(error: unknown, deviceId: string): string {
  if (!(error instanceof CallError)) return (error as Error).message;
  const why = `refused: ${error.message} (${error.code})`;
  if (error.code !== 401) return why;
  return `${why}. The token was revoked, has expired, or was not used in time. To get a new install command: gsv token create --device ${deviceId}`;
}

const logToTerminal: DeviceLog = (_, message, { reason } = {}) => {
  if (message !== "call") printNote(`gsv: ${message}${reason ? `: ${reason}` : ""}`);
};

/** On a signal, stops the device and exits; a second SIGINT exits at once. */
function stopOnSignal(stop: (signal: string) => Promise<void>): void {
  let isEnding = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      // A service manager may send two different signals at once.
      if (isEnding && signal === "SIGINT") process.exit(EXIT_CANCELLED);
      if (isEnding) return;
      isEnding = true;
      void stop(signal).finally(() => process.exit(signal === "SIGINT" ? EXIT_CANCELLED : 0));
    });
}
