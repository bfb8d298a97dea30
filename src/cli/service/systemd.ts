// Services of a user under systemd: a unit in the user's own folder, run by the user's own manager, without root.

import { existsSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { systemUser } from "../device/system.ts";
import { runProgram, type ProgramResult } from "./program.ts";
import { mustHaveSucceeded, writeServiceFile, type Service, type ServiceManager, type ServiceState } from "./service.ts";

const NOT_FOUND = 127;

export async function findSystemd(env: NodeJS.ProcessEnv = process.env): Promise<ServiceManager | { none: string }> {
  const manager = new Systemd(env);
  const { code, err } = await manager.runSystemctl("show-environment");
  if (code === 0) return manager;
  return {
    none:
      code === NOT_FOUND
        ? "This machine has no systemd, so no service can be installed"
        : `The systemd user manager does not respond (${err.split("\n")[0]}), so no service can be installed. Log in directly, not through su or sudo, and try again`,
  };
}

class Systemd implements ServiceManager {
  readonly name = "systemd";
  readonly #env: NodeJS.ProcessEnv;
  readonly #folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    const { XDG_CONFIG_HOME: config, HOME: home } = env;
    this.#folder = join(config && isAbsolute(config) ? config : join(home || homedir(), ".config"), "systemd/user");
    // Shells without a login session, such as those of su, lack the variable that leads to the manager.
    const runtime = `/run/user/${process.getuid?.()}`;
    this.#env = env.XDG_RUNTIME_DIR || !existsSync(runtime) ? env : { ...env, XDG_RUNTIME_DIR: runtime };
  }

  file(name: string): string {
    return join(this.#folder, `${name}.service`);
  }

  runSystemctl(...args: string[]): Promise<ProgramResult> {
    return runProgram("systemctl", ["--user", ...args], this.#env);
  }

  async install(service: Service): Promise<string[]> {
    const unit = `${service.name}.service`;
    writeServiceFile(this.file(service.name), unitText(service));
    await this.#requireSystemctl("daemon-reload");
    await this.#requireSystemctl("enable", unit);
    await this.#requireSystemctl("restart", unit);
    const linger = await runProgram("loginctl", ["enable-linger"], this.#env);
    if (linger.code === 0) return [];
    return [
      `It runs while you are logged in. To start it at boot and keep it running after you log out: sudo loginctl enable-linger ${systemUser()}`,
    ];
  }

  start(name: string): Promise<void> {
    return this.#requireSystemctl("start", `${name}.service`);
  }

  stop(name: string): Promise<void> {
    return this.#requireSystemctl("stop", `${name}.service`);
  }

  restart(name: string): Promise<void> {
    return this.#requireSystemctl("restart", `${name}.service`);
  }

  async state(name: string): Promise<ServiceState> {
    const isInstalled = existsSync(this.file(name));
    const { out } = await this.runSystemctl("show", `${name}.service`, "--property=ActiveState,SubState,UnitFileState,MainPID,NRestarts");
    const found = Object.fromEntries(out.split("\n").map((line) => line.split("=", 2))) as Record<string, string | undefined>;
    const isRunning = found.ActiveState === "active";
    const parts = [
      `${found.ActiveState ?? "unknown"} (${found.SubState ?? "?"})`,
      ...(isRunning ? [`process ${found.MainPID}`] : []),
      ...(Number(found.NRestarts) > 0 ? [`restarted ${found.NRestarts} times`] : []),
      found.UnitFileState === "enabled" ? "starts automatically" : "does not start automatically",
    ];
    return { isInstalled, isRunning, detail: parts.join(", ") };
  }

  async uninstall(name: string): Promise<boolean> {
    if (!existsSync(this.file(name))) return false;
    await this.#requireSystemctl("disable", "--now", `${name}.service`);
    rmSync(this.file(name));
    await this.#requireSystemctl("daemon-reload");
    return true;
  }

  async #requireSystemctl(...args: string[]): Promise<void> {
    mustHaveSucceeded(await this.runSystemctl(...args), `systemctl --user ${args.join(" ")}`);
  }
}

/**
 * No sandbox: a device does what its user may do, and what a unit forbids would look like a fault of the machine. But
 * - stopping it ends what it has started: its whole control group gets TERM, and HUP for shells, which ignore TERM, and is killed
 *   after a timeout;
 * - one command that runs out of memory does not take the others with it (OOMPolicy);
 * - systemd restarts it forever, however often it ends (StartLimitIntervalSec).
 */
export function unitText({ description, command, environment, stopSeconds }: Service): string {
  const variables = Object.entries(environment).map(([name, value]) => `Environment=${quote(`${name}=${value}`)}`);
  return `# Written by gsv, and written anew whenever it installs the service.
[Unit]
Description=${description}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${command.map((part) => quote(part).replaceAll("$", "$$$$")).join(" ")}
${variables.join("\n")}
Restart=always
RestartSec=3
KillMode=control-group
SendSIGHUP=yes
TimeoutStopSec=${stopSeconds}
OOMPolicy=continue

[Install]
WantedBy=default.target
`;
}

/** Quotes for systemd, where a percent sign starts a specifier. */
function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;
}
