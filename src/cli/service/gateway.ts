// The gateway as a service of its user: what gsv up runs in the foreground, with the same flags, kept running.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { OperatorError } from "../../hosts/node/home.ts";
import { type UpFlags, type UpOptions, parseUpOptions } from "../../hosts/node/options.ts";
import { isAlive, readRunningGateway } from "../../hosts/node/running.ts";
import { commandName } from "../launcher/command-name.ts";
import { showLog } from "../commands/device-service.ts";
import { Problem } from "../terminal/problem.ts";
import { printNote, printSentences, printFields } from "../terminal/terminal.ts";
import { requireServiceManager, type ServiceManager } from "./service.ts";
import { makeServiceEnvironment } from "./surroundings.ts";

const NAME = "gsv";
const ACTIONS = ["install", "status", "logs", "start", "stop", "restart", "uninstall"] as const;

export async function controlGatewayService(action: string | true, flags: UpFlags): Promise<number> {
  const wanted = ACTIONS.find((name) => name === (action === true ? "install" : action));
  if (wanted === undefined) throw new Problem(`Unknown action for --service: ${action}. Use one of: ${ACTIONS.join(", ")}`);
  const options = parseFlags(flags);
  if (wanted === "logs") await showLog(join(options.home, "log/gateway.log"), {});
  if (wanted === "logs") return 0;
  const manager = await requireServiceManager();
  const state = await manager.state(NAME);
  if (wanted === "install") return install(manager, options, state.isRunning);
  if (!state.isInstalled) throw new Problem("The service is not installed. To install it: gsv up --service");
  switch (wanted) {
    case "status":
      printFields([
        ["service", state.detail],
        ["file", manager.file(NAME)],
      ]);
      return state.isRunning ? 0 : 1;
    case "uninstall":
      await manager.uninstall(NAME);
      printSentences(`Stopped the gateway and removed the service. The data stays in ${options.home}.`);
      return 0;
    default:
      await manager[wanted](NAME);
      printSentences({ start: "Started.", stop: "Stopped. It starts again when the machine restarts.", restart: "Restarted." }[wanted]);
      return 0;
  }
}

async function install(manager: ServiceManager, options: UpOptions, isRunning: boolean): Promise<number> {
  if (options.port === 0) throw new Problem("A service needs a fixed port: choose one with --port");
  const other = readRunningGateway(options.home);
  if (other !== null && isAlive(other) && !isRunning)
    throw new Problem(`A gateway already runs with data directory ${options.home} (process ${other.pid}). Stop it first`);
  const remarks = await manager.install({
    name: NAME,
    description: "GSV gateway",
    command: [process.execPath, programPath(), "up", ...upArguments(options)],
    environment: await makeServiceEnvironment(),
    stopSeconds: 30,
  });
  printSentences(`Started the service ${NAME}: ${manager.file(NAME)}`);
  for (const remark of remarks) printSentences(remark);
  const gsv = commandName();
  printSentences(`To check on it: ${gsv} status, ${gsv} up --service status, ${gsv} up --service logs`);
  if (manager.name === "systemd") printNote(`If a setup code is needed, it is in the journal: journalctl --user -u ${NAME}.service`);
  return 0;
}

/** Reports wrong flags now, and not in a log that nobody reads. */
function parseFlags(flags: UpFlags): UpOptions {
  try {
    return parseUpOptions(flags, process.env);
  } catch (error) {
    if (error instanceof OperatorError) throw new Problem(error.message);
    throw error;
  }
}

/** The command of the clone, which rebuilds what has changed, if there is a clone; else the bundle. */
function programPath(): string {
  const bundle = process.argv[1] ?? "";
  const clone = join(dirname(bundle), "../bin/gsv.mjs");
  return existsSync(clone) ? clone : bundle;
}

/** Every option by name and with absolute paths: a service has neither this directory nor this environment. */
function upArguments({ home, host, port, allowRemote, origins, trustProxy, tls, logLevel, logToStdout }: UpOptions): string[] {
  return [
    `--home=${home}`,
    `--host=${host}`,
    `--port=${port}`,
    `--log-level=${logLevel}`,
    ...(allowRemote ? ["--allow-remote"] : []),
    ...origins.map((origin) => `--origin=${origin}`),
    ...trustProxy.map((proxy) => `--trust-proxy=${proxy}`),
    ...(tls === null ? [] : [`--tls-cert=${resolve(tls.cert)}`, `--tls-key=${resolve(tls.key)}`]),
    ...(logToStdout ? ["--log-stdout"] : []),
  ];
}
