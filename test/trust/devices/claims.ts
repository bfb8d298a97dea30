// F4: two sockets claim one device id, in random order. The newest accepted one is the device; only it receives calls, only its
// answers count, and the disconnect of the other changes nothing.

import type { Random } from "../crash/random.ts";
import type { Answer } from "./asker.ts";
import type { Place } from "./faults.ts";
import { type DeviceAuth, Puppet } from "./puppet.ts";

type Open = { puppet: Puppet; name: string; isIn: boolean; isGone: boolean };
type Call = { name: string; answer: Promise<Answer>; mayBe: Set<string> };

const STEPS = 10;
const DEVICE = "f4";

export async function claims(place: Place, random: Random, rounds: number): Promise<void> {
  const auth = await place.tokenFor(DEVICE);
  for (let round = 0; round < rounds; round++) await new Round(place, random, auth, round).run();
  place.bar.check("answered once", place.ask.strays === 0, () => `${place.ask.strays} answers that nobody asked for`);
}

class Round {
  readonly #place: Place;
  readonly #random: Random;
  readonly #auth: DeviceAuth;
  readonly #name: string;
  readonly #open: Open[] = [];
  readonly #calls: Call[] = [];
  /** For each call, the sockets that received it: at most one. */
  readonly #askedOf = new Map<string, string[]>();
  /** The last socket that was accepted. */
  #device: Open | null = null;

  constructor(place: Place, random: Random, auth: DeviceAuth, round: number) {
    this.#place = place;
    this.#random = random;
    this.#auth = auth;
    this.#name = `round ${round}`;
  }

  async run(): Promise<void> {
    await this.#enter();
    for (let step = 0; step < STEPS; step++) await this.#step();
    await this.#checkOnline();
    for (const one of this.#open) one.puppet.close("terminate");
    for (const call of this.#calls) await this.#checkCall(call);
    await this.#waitUntilOffline();
  }

  async #step(): Promise<void> {
    const dice = this.#random.int(0, 99);
    const connected = this.#open.filter(({ isGone }) => !isGone);
    if (dice < 30 && connected.length < 2) await this.#enter();
    else if (dice < 40) {
      // Two at once: the one that the gateway accepts last is the device.
      const before = this.#open.length;
      await Promise.all([this.#enter(), this.#enter()]);
      await this.#settle(this.#open.slice(before));
    } else if (dice < 55) this.#disconnect(this.#random.pick(connected));
    else if (dice < 90) this.#ask();
    else this.#forge();
  }

  async #enter(): Promise<void> {
    const puppet = await Puppet.open(this.#place.url, DEVICE);
    const one: Open = { puppet, name: `${this.#name} socket ${this.#open.length}`, isIn: false, isGone: false };
    this.#open.push(one);
    void puppet.closed.then(() => (one.isGone = true));
    puppet.onAsked = ({ id, args }) => this.#answerAsDevice(one, id, String(args.path));
    // A call sent just before on another socket may arrive after this one has become the device.
    for (const { name, mayBe } of this.#calls) if (!this.#askedOf.has(name)) mayBe.add(one.name);
    one.isIn = await puppet.enter(this.#auth);
    if (one.isIn) this.#device = one;
  }

  /** Of several sockets accepted at once all but one are replaced, and closed. */
  async #settle(entered: readonly Open[]): Promise<void> {
    const left = new Set(entered);
    while (left.size > 1) {
      const gone = await Promise.race([...left].map(async (one) => (await one.puppet.closed, one)));
      left.delete(gone);
    }
    this.#device = [...left][0] ?? null;
  }

  #disconnect(one: Open | undefined): void {
    if (one === undefined) return;
    one.puppet.close(this.#random.chance(0.5) ? "close" : "terminate");
    one.isGone = true;
  }

  #ask(): void {
    const name = `${this.#name} call ${this.#calls.length}`;
    const device = this.#device;
    const call = this.#random.chance(0.5) ? "fs.read" : "fs.write";
    const args = { target: DEVICE, path: name, ...(call === "fs.write" ? { content: "" } : {}) };
    const answer = this.#place.ask.once(call, args);
    this.#calls.push({ name, answer, mayBe: new Set(device === null ? [] : [device.name]) });
  }

  #answerAsDevice(one: Open, id: string, name: string): void {
    this.#askedOf.set(name, [...(this.#askedOf.get(name) ?? []), one.name]);
    const other = this.#random.pick(this.#open.filter((candidate) => candidate !== one));
    if (this.#random.chance(0.4)) other?.puppet.answer(id, { from: "another" });
    if (this.#random.chance(0.15)) return one.puppet.close("terminate");
    if (this.#random.chance(0.1)) return;
    const times = this.#random.int(1, 3);
    for (let i = 0; i < times; i++) one.puppet.answer(id, { from: one.name });
  }

  #forge(): void {
    const one = this.#random.pick(this.#open);
    for (const { asked } of this.#open.map(({ puppet }) => puppet))
      for (const { id } of asked.slice(-2)) one?.puppet.answer(id, { from: `forged by ${one.name}` });
  }

  async #checkCall({ name, answer, mayBe }: Call): Promise<void> {
    const { bar } = this.#place;
    const { data, error } = await answer;
    const askedOf = this.#askedOf.get(name) ?? [];
    bar.check("effects", askedOf.length <= 1, () => `${name}: asked of ${askedOf.join(" and ")}`);
    bar.check(
      "right target",
      askedOf.every((one) => mayBe.has(one)),
      () => `${name}: asked of ${askedOf.join()}, not ${[...mayBe].join()}`,
    );
    const isForged = data !== undefined && data.from !== askedOf[0] && data.from !== `forged by ${askedOf[0]}`;
    bar.check("right answer", !isForged, () => `${name}: ${JSON.stringify(data)}, asked of ${askedOf.join()}`);
    bar.check("true answer", data !== undefined || error?.code === 503, () => `${name}: ${JSON.stringify(error)}`);
  }

  /** The newest is the device while its socket is open, whatever happened to the others. */
  async #checkOnline(): Promise<void> {
    const device = this.#device;
    if (device === null || device.isGone) return;
    await device.puppet.seen();
    if (device.isGone) return;
    const { device: record } = await this.#place.owner.call("sys.device.get", { deviceId: DEVICE });
    const isOnline = record?.online === true || device.isGone;
    this.#place.bar.check("newest stays", isOnline, () => `${device.name} is open and ${DEVICE} is offline`);
  }

  async #waitUntilOffline(): Promise<void> {
    await Promise.all(this.#open.map(({ puppet }) => puppet.closed));
    for (let tries = 0; ; tries++) {
      const { device } = await this.#place.owner.call("sys.device.get", { deviceId: DEVICE });
      if (device?.online === false) return;
      if (tries > 10_000) throw new Error(`${this.#name}: ${DEVICE} stays online without a socket`);
    }
  }
}
