// gsv device install, start, stop, restart, uninstall, status and logs: a service of the user keeps this machine a device.

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { setDevice, setSession, setGatewayUrl, tableAt, updateConfig } from "../session/config-file.ts";
import { commandName } from "../launcher/command-name.ts";
import { deviceLogFile } from "../device/device-log.ts";
import { readNewLines, lastLines, formatLogLine } from "../device/log-lines.ts";
import { Problem } from "../terminal/problem.ts";
import { requireServiceManager, type Service, findServiceManager } from "../service/service.ts";
import { makeServiceEnvironment } from "../service/surroundings.ts";
import type { Globals } from "../session/session.ts";
import { printDataLine, printFields, printJson, printNote, printSentences, printText } from "../terminal/terminal.ts";
import { requireDeviceCredentials, type DeviceFlags, resolveThisDevice } from "../device/this-device.ts";

const NAME = "gsvd";

export async function deviceInstall(flags: DeviceFlags): Promise<void> {
  const device = requireDeviceCredentials(resolveThisDevice(flags, homedir()));
  const { config, address, deviceId, workspace, username, token } = device;
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw new Problem(`Directory not found: ${workspace}. Create it, or choose another with --workspace`);
  updateConfig(config.file, (table) => {
    setDevice(table, { id: deviceId, token, workspace, url: address.url, username });
    if (tableAt(table, "gateway")?.url !== undefined) return;
    // The first gateway of this machine becomes its user's default.
    setGatewayUrl(table, address.url);
    setSession(table, address.origin, { username });
  });
  printSentences(`Stored device ${deviceId} of ${username} at ${address.origin} in ${config.file}`);
  const manager = await findServiceManager();
  if ("none" in manager) {
    printNote(`gsv: ${manager.none}.`);
    return printSentences(`To connect this machine while a command runs: ${commandName()} device run`);
  }
  const remarks = await manager.install(await makeService());
  printSentences(`Started the service ${NAME}: ${manager.file(NAME)}`);
  for (const remark of remarks) printSentences(remark);
  const gsv = commandName();
  printSentences(`To check on it: ${gsv} device status, ${gsv} device logs`);
}

export async function deviceControl(action: "start" | "stop" | "restart"): Promise<void> {
  const manager = await requireServiceManager();
  if (!(await manager.state(NAME)).isInstalled) throw notInstalledProblem();
  await manager[action](NAME);
  printSentences(
    { start: "Started.", stop: "Stopped, with the commands it ran. It starts again when the machine restarts.", restart: "Restarted." }[
      action
    ],
  );
}

export async function deviceUninstall(): Promise<void> {
  if (!(await (await requireServiceManager()).uninstall(NAME))) throw notInstalledProblem();
  const { config } = resolveThisDevice({});
  printSentences(
    `Removed the service. The settings stay in ${config.file}, and the token stays valid; to revoke it: gsv token list, gsv token revoke ID.`,
  );
}

export async function deviceStatus(flags: Globals): Promise<number> {
  const device = resolveThisDevice(flags);
  const manager = await findServiceManager();
  const state = "none" in manager ? null : await manager.state(NAME);
  const log = deviceLogFile(device);
  const [last] = lastLines(log, 1).lines;
  const { deviceId, address, username, workspace } = device;
  const isRunning = state?.isRunning === true;
  if (flags.json) {
    printJson({ deviceId, gateway: address.url, username: username ?? null, workspace, service: state, log });
    return isRunning ? 0 : 1;
  }
  printFields([
    ["device", device.token === undefined ? `${deviceId}, no token: gsv token create --device ${deviceId}` : deviceId],
    ["gateway", `${address.url}${username === undefined ? "" : ` as ${username}`}`],
    ["workspace", workspace],
    ["service", "none" in manager ? manager.none : state?.isInstalled ? state.detail : "not installed; to install it: gsv device install"],
    ["log", log],
    ...(last === undefined ? [] : [["last", formatLogLine(last)] as const]),
  ]);
  return isRunning ? 0 : 1;
}

export async function deviceLogs(flags: DeviceFlags & { lines?: string; follow?: boolean }): Promise<void> {
  await showLog(deviceLogFile(resolveThisDevice(flags)), flags);
}

/** Prints the last lines, and with --follow new ones. */
export async function showLog(file: string, flags: { lines?: string; follow?: boolean; json?: boolean }): Promise<void> {
  const { lines: count = "100" } = flags;
  if (!/^\d{1,6}$/.test(count)) throw new Problem(`--lines must be a number: ${count}`);
  const show = (line: string) => (flags.json ? printDataLine(line) : printText(formatLogLine(line)));
  const { lines, end } = lastLines(file, Number(count));
  if (lines.length === 0) printNote(`gsv: the log is empty: ${file}`);
  lines.forEach(show);
  if (flags.follow) for await (const line of readNewLines(file, end)) show(line);
}

async function makeService(): Promise<Service> {
  return {
    name: NAME,
    description: "GSV device: connects this machine to a gateway",
    command: [...launchCommand(), "device", "run", "--log-file"],
    environment: await makeServiceEnvironment(),
    stopSeconds: 10,
  };
}

/** How to start this program: by its installer's script, which finds Node again after an update, or as it was started now. */
function launchCommand(): string[] {
  const installed = process.env.GSV_COMMAND;
  return installed ? [installed] : [process.execPath, realpathSync(process.argv[1] ?? "")];
}

function notInstalledProblem(): Problem {
  return new Problem("The service is not installed. To install it: gsv device install");
}
