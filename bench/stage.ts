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
      entryPoints: ["floor.ts", "alone.ts", "hops.ts", "tcp.ts", "provider.ts", "turn-floor.ts"].map((name) =>
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

  /** An authenticated connection, for calls that are not measured. */
  async line(server: Server): Promise<Connection> {
    const connection = await Connection.open(`http://127.0.0.1:${server.port}`);
    const { username, token } = this.account;
    const client = { id: `bench-${connectionCount++}`, version: "0", platform: "bench", role: "user" as const };
    await connection.call("sys.connect", { protocol: 1, client, auth: { username, token } });
    return connection;
  }

  /** Starts a model that answers at once and configures the gateway to use it. */
  async provider(gateway: Server): Promise<Server> {
    const provider = await this.children.server("provider", [join(this.#programs, "provider.js")], "load");
    const connection = await Connection.open(`http://127.0.0.1:${gateway.port}`);
    const client = { id: "bench-root", version: "0", platform: "bench", role: "user" as const };
    await connection.call("sys.connect", { protocol: 1, client, auth: ROOT });
    // A name of its own: runs that an earlier scenario left behind may have failed with the model of that time.
    const model = `bench-${provider.port}`;
    const settings = { provider: "openai-compatible", base_url: `http://127.0.0.1:${provider.port}/v1`, model, api_key: "none" };
    for (const [name, value] of Object.entries(settings)) await connection.call("sys.config.set", { key: `config/ai/${name}`, value });
    connection.close();
    return provider;
  }

  /** Returns a function that reads how often the gateway has synced its journal. */
  async syncCounter(gateway: Server): Promise<() => Promise<number>> {
    const url = `http://127.0.0.1:${gateway.port}`;
    const connection = await Connection.open(url);
    const client = { id: "bench-metrics", version: "0", platform: "bench", role: "user" as const };
    await connection.call("sys.connect", { protocol: 1, client, auth: ROOT });
    const { token } = await connection.call("sys.token.create", { kind: "user", label: "metrics" });
    connection.close();
    return async () => {
      const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token.token}` } });
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

  target(server: Server): Target {
    return { port: server.port, pid: server.pid, username: this.account.username, token: this.account.token };
  }

  /**
   * Runs the same job against each server, round after round, so that a busy minute hits all of them; medians. `between` is
   * called after each round, for floors without a network.
   */
  async compare(servers: readonly Server[], job: (target: Target) => Job, between?: () => Promise<void>): Promise<Measure[]> {
    const load = this.load();
    const results: Measure[][] = servers.map(() => []);
    for (let round = 0; round < this.options.rounds; round++) {
      for (const [at, server] of servers.entries()) {
        results[at]!.push(await load.run(job(this.target(server))));
        await sleep(SETTLE_MS);
      }
      await between?.();
    }
    load.stop();
    return results.map(middle);
  }
}

/** Sets up the gateway and creates a token. */
async function populate(port: number): Promise<Account> {
  const url = `http://127.0.0.1:${port}`;
  const setup = await Connection.open(url);
  await setup.call("sys.setup", { ...USER, rootPassword: ROOT.password });
  setup.close();
  const connection = await Connection.open(url);
  const client = { id: "bench", version: "0", platform: "bench", role: "user" as const };
  const connected = await connection.call("sys.connect", { protocol: 1, client, auth: USER });
  const { token } = await connection.call("sys.token.create", { kind: "user", label: "bench" });
  connection.close();
  return {
    username: USER.username,
    uid: connected.identity.process.uid,
    token: token.token,
    tokenId: token.tokenId,
    expiresAt: token.expiresAt,
    connected,
  };
}
