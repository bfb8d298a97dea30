// What outlives every gateway of the campaign: its data, the provider, a device, and the events of two processes that a person
// received. All of them connect again after each restart.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect, type FollowedEvent } from "../../../src/client/client.ts";
import { type RunningDevice, startDevice } from "../../../src/device/device.ts";
import { ScriptedProvider, type WireName } from "../../support/models/provider.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { disorder, heard } from "../agents/heard.ts";
import { pause } from "../devices/asker.ts";
import { type Faults, Gateway } from "../crash/gateway.ts";
import { FIRST, setUp } from "../crash/world.ts";
import type { Random } from "../crash/random.ts";
import { answerTo, DEVICE } from "./jobs.ts";

export const WIRES: WireName[] = ["chat", "responses", "anthropic", "google"];
/** Small, so that histories are compacted every now and then. */
const WINDOW_TOKENS = 9_000;
const KEEP_LAST = 16;
const DELAY_MS = 15;
/** The connection is lost before the exit of a process is known. */
const EXIT_MS = 2_000;

type Place = { bundle: string; folder: string; port: number; provider: ScriptedProvider };
type Tokens = { person: string; root: string; device: string };

export class World {
  readonly #place: Place;
  readonly provider: ScriptedProvider;
  /** Requests that a real provider would have refused. */
  readonly refused: string[] = [];
  /** The events of each process, across all restarts. */
  readonly told = new Map<string, FollowedEvent[]>();
  gaps = 0;
  client!: Client;
  #root: Client | null = null;
  #device: RunningDevice | null = null;
  #tokens: Tokens | null = null;
  gateway!: Gateway;

  private constructor(place: Place) {
    this.#place = place;
    this.provider = place.provider;
  }

  static async make(bundle: string, folder: string, random: Random): Promise<World> {
    for (const name of ["home", "machine", "machine-state"]) mkdirSync(join(folder, name), { recursive: true });
    const provider = await ScriptedProvider.start();
    const world = new World({ bundle, folder, port: await steadyPort(), provider });
    provider.otherwise = async (asked) => {
      const wrong = disorder(heard(asked));
      if (wrong !== null) world.refused.push(`${asked.path}: ${wrong}`);
      await pause(random.int(0, DELAY_MS));
      return answerTo(asked);
    };
    await world.#startGateway({});
    await setUp(world.#url);
    await world.#createTokens();
    return world;
  }

  /** Starts the gateway and reconnects everybody; false if it died before that was done. */
  async begin(faults: Faults, wire: WireName): Promise<boolean> {
    this.#disconnect();
    await this.#startGateway(faults);
    try {
      await this.#enter();
      await this.#chooseWire(wire);
      return true;
    } catch (error) {
      if (!(await this.gateway.endsWithin(EXIT_MS))) throw error;
      return false;
    }
  }

  get pids(): string[] {
    return [...this.told.keys()];
  }

  /** How often each job's line was written, on the gateway and on the device. */
  async effects(): Promise<Map<string, number>> {
    const native = (await this.client.call("fs.read", { path: "effects.log" })) as { content?: unknown };
    const counts = new Map<string, number>();
    const machine = read(join(this.#place.folder, "machine", "effects.log"));
    for (const [where, text] of [["gsv", String(native.content)] as const, [DEVICE, machine] as const])
      for (const [job] of text.matchAll(/job-\d+/g)) counts.set(`${where} ${job}`, (counts.get(`${where} ${job}`) ?? 0) + 1);
    return counts;
  }

  async close(): Promise<void> {
    this.#disconnect();
    await this.gateway.kill();
    await this.provider.close();
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#place.port}`;
  }

  async #startGateway(faults: Faults): Promise<void> {
    const { bundle, folder, port } = this.#place;
    this.gateway = new Gateway(bundle, join(folder, "home"), faults, port);
    await this.gateway.ready;
  }

  async #enter(): Promise<void> {
    const { person, root, device } = this.#tokens!;
    const enter = (username: string, token: string) => connect({ url: this.#url, auth: { username, token }, reconnect: false });
    this.client = await enter(FIRST.username, person);
    this.#root = await enter("root", root);
    const [workspace, state] = ["machine", "machine-state"].map((name) => join(this.#place.folder, name)) as [string, string];
    const auth = { username: FIRST.username, token: device };
    this.#device = await startDevice({ url: this.#url, auth, deviceId: DEVICE, workspace, state });
    for (const [pid, told] of this.told) {
      const after = told.at(-1)?.seq ?? 0;
      await this.client.follow({ pid, after, onEvent: (event) => told.push(event), onGap: () => this.gaps++ }).begun;
    }
  }

  #disconnect(): void {
    this.client?.close();
    this.#root?.close();
    this.#device?.close();
  }

  async #chooseWire(wire: WireName): Promise<void> {
    const { provider, baseUrl } = this.provider.choice(wire);
    for (const [name, value] of Object.entries({ provider, base_url: baseUrl!, model: "scripted", api_key: "key of this campaign" }))
      await this.#root!.call("sys.config.set", { key: `config/ai/${name}`, value });
  }

  async #createTokens(): Promise<void> {
    const enter = (username: string, password: string) => connect({ url: this.#url, auth: { username, password }, reconnect: false });
    const person = await enter(FIRST.username, FIRST.password);
    const root = await enter("root", FIRST.rootPassword);
    const { uid } = person.session.identity.process;
    // A password would be hashed at each reconnect; a token is not.
    const issueToken = async (by: Client, args: { kind: "user" } | { kind: "node"; allowedDeviceId: string }) =>
      (await by.call("sys.token.create", args)).token.token;
    this.#tokens = {
      person: await issueToken(person, { kind: "user" }),
      root: await issueToken(root, { kind: "user" }),
      device: await issueToken(person, { kind: "node", allowedDeviceId: DEVICE }),
    };
    for (const [name, value] of Object.entries({ context_window_tokens: WINDOW_TOKENS, max_tokens: 500 }))
      await root.call("sys.config.set", { key: `users/${uid}/ai/${name}`, value: String(value) });
    const { pid: second } = await person.call("proc.spawn", { profile: "task", label: "second" });
    const policy = { overflow: "auto-compact", compactAtPressure: 0.9, keepLast: KEEP_LAST } as const;
    for (const pid of [`init:${uid}`, second]) {
      this.told.set(pid, []);
      await person.call("proc.conversation.policy.set", { pid, ...policy });
    }
    for (const client of [person, root]) client.close();
    await this.gateway.kill();
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
