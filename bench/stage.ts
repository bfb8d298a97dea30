// What every scenario needs: a gateway with a user and a token, floors that answer as that gateway does, and a load.

import { cpSync, existsSync, realpathSync, writeFileSync } from "node:fs";
import { buildSync } from "esbuild";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "../src/client/connection.ts";
import type { Task } from "./alone.ts";
import { Children, type Load, type Server } from "./children.ts";
import type { FloorMode, FloorOptions } from "./floor.ts";
import type { HopsOptions } from "./hops.ts";
import type { Job, Target } from "./load.ts";
import { type Measure, middle } from "./stats.ts";
import type { TcpOptions } from "./tcp.ts";
import type { Times, TimesTask } from "./times.ts";
import type { TurnFloorOptions } from "./turn-floor.ts";

export type Options = {
  rounds: number;
  seconds: number;
  megabytes: number;
  bundle: string;
  against: string | null;
  profile: string | null;
};

/** A user of the gateway, and the gateway's answer to sys.connect, which floors repeat. */
export type Account = { username: string; uid: number; token: string; tokenId: string; expiresAt: number | null; connected: unknown };

const USER = { username: "alice", password: "correct horse" };
const ROOT = { username: "root", password: "rosebud and sledge" };
const SETTLE_MS = 500;
let connectionCount = 0;

export class Stage {
  readonly options: Options;
  readonly children = new Children();
  readonly home: string;
  /** A copy of the bundle: rebuilding it during a run must not change what is measured. */
  readonly program: string;
  readonly #programs: string;
  #account: Account | null = null;

  constructor(options: Options) {
    this.options = options;
    if (!existsSync(options.bundle)) throw new Error(`There is no bundle at ${options.bundle}: npm run bench builds it`);
    const copy = this.children.folder();
    cpSync(realpathSync(dirname(options.bundle)), copy, { recursive: true });
    writeFileSync(join(copy, "package.json"), '{ "type": "module" }\n');
    this.program = join(copy, "gsv.js");
    this.home = this.children.folder();
    // Bundled like the gateway: stripping types at start costs 15 MB and 100 ms, which must not count for a floor, and the free
    // heap it leaves would hide the cost of connections.
    this.#programs = copy;
    buildSync({
      entryPoints: ["floor.ts", "alone.ts", "hops.ts", "tcp.ts", "provider.ts", "turn-floor.ts", "times.ts"].map((name) =>
        join(import.meta.dirname, name),
      ),
      outdir: copy,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node24",
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    });
  }

  /** Always on the same data, so every start but the first finds a gateway that is set up. */
  async gateway(flags: readonly string[] = []): Promise<Server> {
    const server = await this.children.server("gateway", [...this.#flags(flags), this.program, "up", "--home", this.home, "--port", "0"]);
    this.#account ??= await populate(server.port);
    return server;
  }

  /** A device daemon of the bundle, with its own directory and token. */
  async device(gateway: Server, deviceId: string, workspace: string): Promise<Server> {
    const connection = await this.line(gateway);
    const { token } = await connection.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
    connection.close();
    const args = ["--url", `http://127.0.0.1:${gateway.port}`, "--user", this.account.username, "--id", deviceId, "--workspace", workspace];
    // Its home is empty: otherwise the shell profile of the person who runs the bench would run for each command.
    const env = { GSV_DEVICE_TOKEN: token.token, GSV_CONFIG: join(workspace, "config.toml"), HOME: workspace };
    return this.children.outward(`device ${deviceId}`, [...this.#flags([]), this.program, "device", "run", ...args], env);
  }

  #flags(flags: readonly string[]): string[] {
    const { profile } = this.options;
    return profile === null ? [...flags] : [...flags, "--cpu-prof", "--cpu-prof-interval", "200", "--cpu-prof-dir", profile];
  }

  floor(mode: FloorMode, answers: Record<string, unknown> = {}, flags: readonly string[] = []): Promise<Server> {
    const options: FloorOptions = {
      mode,
      home: this.children.folder(),
      token: this.account.token,
      answers: { "sys.connect": this.account.connected, ...answers },
    };
    return this.children.server(`floor (${mode})`, [...flags, join(this.#programs, "floor.js"), JSON.stringify(options)]);
  }

  /** The floor of calls to devices: a relay and its far end. */
  async hops(does: "echo" | "work", workspace: string, answers: Record<string, unknown>): Promise<{ relay: Server; end: Server }> {
    const program = join(this.#programs, "hops.js");
    const args = (options: HopsOptions) => [program, JSON.stringify(options)];
    const relay = await this.children.server("relay", args({ part: "relay", connected: this.account.connected }));
    const end = await this.children.outward("far end", args({ part: "end", does, port: relay.port, workspace, answers }), {
      HOME: workspace,
    });
    return { relay, end };
  }

  /** One process of the floor of copies. */
  tcp(options: TcpOptions): Promise<Server> {
    const args = [join(this.#programs, "tcp.js"), JSON.stringify(options)];
    return this.children.server(options.part, args, options.part === "relay" ? "server" : "load");
  }

  /** Runs a task in its own process, on the CPU of the servers. */
  async alone(task: Task): Promise<Measure> {
    const { code, output } = await this.children.program([join(this.#programs, "alone.js"), JSON.stringify(task)], {}, "server");
    if (code !== 0) throw new Error(`${task.work} ended with ${code}:\n${output}`);
    return JSON.parse(output.slice(output.lastIndexOf("\n{") + 1)) as Measure;
  }

  /** Computes when schedules run, in a process of its own, on the CPU of the servers. */
  async times(task: TimesTask): Promise<Times> {
    const { code, output } = await this.children.program([join(this.#programs, "times.js"), JSON.stringify(task)], {}, "server");
    if (code !== 0) throw new Error(`times ended with ${code}:\n${output}`);
    return JSON.parse(output) as Times;
  }

  /** An authenticated connection, for calls that are not measured. */
  async line(server: Server, account = this.account): Promise<Connection> {
    const connection = await Connection.open(`http://127.0.0.1:${server.port}`);
    const { username, token } = account;
    const client = { id: `bench-${connectionCount++}`, version: "0", platform: "bench", role: "user" as const };
    await connection.call("sys.connect", { protocol: 1, client, auth: { username, token } });
    return connection;
  }

  /** Root, with a new token. */
  root(gateway: Server): Promise<Account> {
    return makeAccount(`http://127.0.0.1:${gateway.port}`, ROOT);
  }

  /** Adds users. */
  async people(gateway: Server, count: number): Promise<Account[]> {
    const root = await this.line(gateway, await this.root(gateway));
    const accounts: Account[] = [];
    for (let at = 0; at < count; at++) {
      const user = { username: `person${at}`, password: `${USER.password} ${at}` };
      await root.call("sys.user.create", user);
      accounts.push(await makeAccount(`http://127.0.0.1:${gateway.port}`, user));
    }
    root.close();
    return accounts;
  }

  /** Starts a model that answers at once and configures the gateway to use it. */
  async provider(gateway: Server): Promise<Server> {
    const provider = await this.children.server("provider", [join(this.#programs, "provider.js")], "load");
    const connection = await this.line(gateway, await this.root(gateway));
    // A name of its own: runs that an earlier scenario left behind may have failed with the model of that time.
    const model = `bench-${provider.port}`;
    const settings = { provider: "openai-compatible", base_url: `http://127.0.0.1:${provider.port}/v1`, model, api_key: "none" };
    for (const [name, value] of Object.entries(settings)) await connection.call("sys.config.set", { key: `config/ai/${name}`, value });
    connection.close();
    return provider;
  }

  /** Returns a function that reads how often the gateway has synced its journal. */
  async syncCounter(gateway: Server): Promise<() => Promise<number>> {
    const { token } = await this.root(gateway);
    return async () => {
      const response = await fetch(`http://127.0.0.1:${gateway.port}/metrics`, { headers: { authorization: `Bearer ${token}` } });
      return Number(/^gsv_journal_syncs_total (\d+)$/m.exec(await response.text())?.[1]);
    };
  }

  /** The floor of turns, with the same model. */
  turnFloor(provider: Server): Promise<Server> {
    const options: TurnFloorOptions = { home: this.children.folder(), providerPort: provider.port, connected: this.account.connected };
    return this.children.server("floor (turns)", [join(this.#programs, "turn-floor.js"), JSON.stringify(options)]);
  }

  load(): Load {
    return this.children.load(join(import.meta.dirname, "load.ts"));
  }

  /** Set once a gateway has been started. */
  get account(): Account {
    if (this.#account === null) throw new Error("Start a gateway before a floor: floors answer as it does");
    return this.#account;
  }

  target(server: Server, { username, token } = this.account): Target {
    return { port: server.port, pid: server.pid, username, token };
  }

  /**
   * Runs the same job against each server, round after round, so that a busy minute hits all of them; medians. `between` is
   * called after each round, for floors without a network.
   */
  async compare(servers: readonly Server[], job: (target: Target) => Job, between?: () => Promise<void>): Promise<Measure[]> {
    const load = this.load();
    const measures = await this.alternate(
      servers.map((server) => () => load.run(job(this.target(server)))),
      between,
    );
    load.stop();
    return measures;
  }

  /** Takes each of these measures in turn, round after round; medians. */
  async alternate(measures: readonly (() => Promise<Measure>)[], between?: () => Promise<void>): Promise<Measure[]> {
    const results: Measure[][] = measures.map(() => []);
    for (let round = 0; round < this.options.rounds; round++) {
      for (const [at, measure] of measures.entries()) {
        results[at]!.push(await measure());
        await sleep(SETTLE_MS);
      }
      await between?.();
    }
    return results.map(middle);
  }
}

/** Sets up the gateway and creates a token. */
async function populate(port: number): Promise<Account> {
  const url = `http://127.0.0.1:${port}`;
  const setup = await Connection.open(url);
  await setup.call("sys.setup", { ...USER, rootPassword: ROOT.password });
  setup.close();
  return makeAccount(url, USER);
}

async function makeAccount(url: string, auth: typeof USER): Promise<Account> {
  const connection = await Connection.open(url);
  const client = { id: "bench", version: "0", platform: "bench", role: "user" as const };
  const connected = await connection.call("sys.connect", { protocol: 1, client, auth });
  const { token } = await connection.call("sys.token.create", { kind: "user", label: "bench" });
  connection.close();
  return {
    username: auth.username,
    uid: connected.identity.process.uid,
    token: token.token,
    tokenId: token.tokenId,
    expiresAt: token.expiresAt,
    connected,
  };
}
