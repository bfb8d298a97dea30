// Services of a user under launchd: an agent, described by a property list in the user's own folder.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { homePath } from "../../hosts/node/running.ts";
import { runProgram, type ProgramResult } from "./program.ts";
import { mustHaveSucceeded, writeServiceFile, type Service, type ServiceManager, type ServiceState } from "./service.ts";

const NOT_FOUND = 127;

export async function findLaunchd(env: NodeJS.ProcessEnv = process.env): Promise<ServiceManager | { none: string }> {
  const manager = new Launchd(env);
  const { code } = await runProgram("launchctl", ["version"], env);
  return code === NOT_FOUND ? { none: "launchctl was not found, so no service can be installed" } : manager;
}

class Launchd implements ServiceManager {
  readonly name = "launchd";
  readonly #env: NodeJS.ProcessEnv;
  readonly #domain = `gui/${process.getuid?.()}`;

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  file(name: string): string {
    return join(this.#env.HOME || homedir(), "Library/LaunchAgents", `${name}.plist`);
  }

  async install(service: Service): Promise<string[]> {
    const { name } = service;
    const errorLog = join(homePath(undefined, this.#env), "logs", `${name}.err`);
    mkdirSync(dirname(errorLog), { recursive: true, mode: 0o700 });
    writeServiceFile(this.file(name), plistText(service, errorLog));
    if (await this.#isLoaded(name)) await this.#launchctl("bootout", `${this.#domain}/${name}`);
    await this.#launchctl("bootstrap", this.#domain, this.file(name));
    return ["It starts when you log in."];
  }

  /** An agent with KeepAlive is stopped by unloading it and started by loading it. */
  async start(name: string): Promise<void> {
    if (await this.#isLoaded(name)) await this.#launchctl("kickstart", `${this.#domain}/${name}`);
    else await this.#launchctl("bootstrap", this.#domain, this.file(name));
  }

  async stop(name: string): Promise<void> {
    if (await this.#isLoaded(name)) await this.#launchctl("bootout", `${this.#domain}/${name}`);
  }

  async restart(name: string): Promise<void> {
    if (await this.#isLoaded(name)) await this.#launchctl("kickstart", "-k", `${this.#domain}/${name}`);
    else await this.start(name);
  }

  async state(name: string): Promise<ServiceState> {
    const { code, out } = await this.#print(name);
    const pid = /^\s*pid = (\d+)/m.exec(out)?.[1];
    const status = /^\s*state = (.+)$/m.exec(out)?.[1] ?? "not loaded";
    return {
      isInstalled: existsSync(this.file(name)),
      isRunning: code === 0 && pid !== undefined,
      detail: [code === 0 ? status : "not loaded", ...(pid === undefined ? [] : [`process ${pid}`])].join(", "),
    };
  }

  async uninstall(name: string): Promise<boolean> {
    if (!existsSync(this.file(name))) return false;
    await this.stop(name);
    rmSync(this.file(name));
    return true;
  }

  async #isLoaded(name: string): Promise<boolean> {
    return (await this.#print(name)).code === 0;
  }

  #print(name: string): Promise<ProgramResult> {
    return runProgram("launchctl", ["print", `${this.#domain}/${name}`], this.#env);
  }

  async #launchctl(...args: string[]): Promise<void> {
    mustHaveSucceeded(await runProgram("launchctl", args, this.#env), `launchctl ${args.join(" ")}`);
  }
}

/** ProcessType is Interactive, because launchd throttles other agents and every command that they run. */
export function plistText({ name, command, environment, stopSeconds }: Service, errorLog: string): string {
  const variables = Object.entries(environment).map(
    ([key, value]) => `    <key>${escapeXml(key)}</key><string>${escapeXml(value)}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${escapeXml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((part) => `    <string>${escapeXml(part)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join("\n")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ThrottleInterval</key><integer>3</integer>
  <key>ProcessType</key><string>Interactive</string>
  <key>ExitTimeOut</key><integer>${stopSeconds}</integer>
  <key>StandardErrorPath</key><string>${escapeXml(errorLog)}</string>
</dict>
</plist>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
