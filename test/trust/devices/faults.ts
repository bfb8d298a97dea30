// F1 to F3 with real sockets: the connection is cut in the middle of a call, the device comes back with and without its ledger,
// and answers come twice, from other devices, and too late.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { type RunningDevice, startDevice } from "../../../src/device/device.ts";
import type { Client, SocketConstructor } from "../../../src/client/client.ts";
import type { Bar } from "../bar.ts";
import { type DeviceAuth, Puppet } from "./puppet.ts";
import { Proxy } from "./proxy.ts";
import { type Answer, Asker } from "./asker.ts";

export type Place = {
  bar: Bar;
  url: string;
  scratch: string;
  owner: Client;
  ask: Asker;
  tokenFor: (deviceId: string) => Promise<DeviceAuth>;
};

const OFFSETS = 5;
const CALLS = ["shell.exec", "fs.read"] as const;

/** Cuts the connection before, within and after the request, and before, within and after the answer. */
export async function cutsInACall(place: Place): Promise<void> {
  const { bar, ask } = place;
  const device = await plug(place, "f1", { isLedger: true });
  const target = "f1";
  const size = { down: 0, up: 0 };
  const warm = async (call: (typeof CALLS)[number]) => {
    const before = { ...device.proxy.passed };
    await ask.until(call, argsOf(call, target, "warm"), `warm ${call}`);
    for (const way of ["down", "up"] as const) size[way] = device.proxy.passed[way] - before[way];
  };
  for (const call of CALLS) {
    await warm(call);
    for (const way of ["down", "up"] as const) {
      for (let step = 0; step < OFFSETS; step++) {
        const name = `${call} ${way} ${step}`;
        device.proxy.cutAfter(way, Math.max(1, Math.round((size[way] * step) / (OFFSETS - 1))));
        const args = argsOf(call, target, name);
        const first = await ask.once(call, args, name);
        bar.check("cut in a call", isHonest(call, first), () => `${name}: ${JSON.stringify(first)}`);
        device.proxy.cut();
        if (call === "fs.read") continue;
        const last = await ask.until(call, args, name);
        bar.check("outcome learned", last.ok === true, () => `${name}: ${JSON.stringify(last)}`);
        const effects = device.effects(name);
        bar.check("effects", effects === 1, () => `${name}: carried out ${effects} times`);
      }
    }
  }
  await device.close();
}

/** The device comes back with its ledger, and knows the result; without one, and refuses every key. */
export async function ledgers(place: Place): Promise<void> {
  const { bar, ask } = place;
  const args = argsOf("shell.exec", "f2", "kept");
  const kept = await plug(place, "f2", { isLedger: true });
  const first = await ask.until("shell.exec", args, "kept");
  await kept.close();
  const again = await plug(place, "f2", { isLedger: true });
  const second = await ask.until("shell.exec", args, "kept");
  bar.check("ledger kept", JSON.stringify(first.data) === JSON.stringify(second.data), () => JSON.stringify([first, second]));
  bar.check("effects", again.effects("kept") === 1, () => `carried out ${again.effects("kept")} times`);
  await again.close();
  const without = await plug(place, "f2", { isLedger: false });
  const refused = await ask.until("shell.exec", args, "kept");
  bar.check("no ledger", refused.error?.code === 400, () => JSON.stringify(refused));
  bar.check("effects", without.effects("kept") === 1, () => `carried out ${without.effects("kept")} times`);
  await without.close();
}

/** Sends each answer three times, from another device too, after the device came back, and after the call timed out. */
export async function replays(place: Place): Promise<void> {
  const { bar, ask, url } = place;
  const [auth, otherAuth] = [await place.tokenFor("f3"), await place.tokenFor("f3-other")];
  const other = await Puppet.open(url, "f3-other");
  await other.enter(otherAuth);
  let puppet = await Puppet.open(url, "f3");
  await puppet.enter(auth);
  const late = await lateAnswer(place);
  const old: string[] = [];
  for (let round = 0; round < 50; round++) {
    const asked = new Promise<string>((resolve) => (puppet.onAsked = ({ id }) => resolve(id)));
    const answer = ask.once("fs.read", { target: "f3", path: String(round) }, `f3 ${round}`);
    const id = await asked;
    for (const known of old) puppet.answer(known, { from: "the past" });
    for (let i = 0; i < 3; i++) other.answer(id, { from: "another" });
    await other.seen();
    const isDropped = round % 10 === 9;
    if (isDropped) {
      puppet.close("terminate");
      const lost = await answer;
      bar.check("dropped", lost.error?.code === 503, () => JSON.stringify(lost));
      puppet = await Puppet.open(url, "f3");
      await puppet.enter(auth);
    }
    for (let i = 0; i < 3; i++) puppet.answer(id, { from: `round ${round}` });
    await puppet.seen();
    if (!isDropped) {
      const { data } = await answer;
      bar.check("right answer", data?.from === `round ${round}`, () => `round ${round} got ${JSON.stringify(data)}`);
    }
    old.push(id);
  }
  await late();
  bar.check("answered once", ask.strays === 0, () => `${ask.strays} answers that nobody asked for`);
  for (const one of [puppet, other]) one.close();
}

/** Sends a call now that the device answers after the gateway has timed out. */
async function lateAnswer({ bar, ask, url, tokenFor }: Place): Promise<() => Promise<void>> {
  const auth = await tokenFor("f3-late");
  const puppet = await Puppet.open(url, "f3-late");
  await puppet.enter(auth);
  const keepAlive = setInterval(() => void puppet.seen(), 3_000);
  const answer = ask.once("fs.write", { target: "f3-late", path: "x", content: "" }, "late");
  return async () => {
    const given = await answer;
    clearInterval(keepAlive);
    const { details } = (given.error ?? {}) as { details?: { outcome?: string } };
    bar.check("given up", given.error?.code === 504 && details?.outcome === "unknown", () => JSON.stringify(given));
    for (const { id } of puppet.asked) puppet.answer(id, { from: "too late" });
    await puppet.seen();
    puppet.close();
  };
}

type PluggedDevice = { proxy: Proxy; device: RunningDevice; effects(name: string): number; close(): Promise<void> };

/** A real daemon behind a connection that can be cut. */
export async function plug(
  { url, scratch, tokenFor }: Place,
  deviceId: string,
  { isLedger }: { isLedger: boolean },
): Promise<PluggedDevice> {
  const proxy = await Proxy.to(Number(new URL(url).port));
  const workspace = join(scratch, deviceId);
  mkdirSync(workspace, { recursive: true });
  const state = isLedger ? { state: join(scratch, `${deviceId}-state`) } : {};
  const auth = await tokenFor(deviceId);
  const device = await startDevice({ url: proxy.url, auth, deviceId, workspace, ...state, WebSocket: named(new URL(url).host) });
  return {
    proxy,
    device,
    effects(name) {
      const log = join(workspace, "log");
      return existsSync(log)
        ? readFileSync(log, "utf8")
            .split("\n")
            .filter((line) => line === name).length
        : 0;
    },
    async close() {
      device.close();
      await proxy.close();
    },
  };
}

/** The gateway accepts only its own host name, through a proxy too. */
export function named(host: string): SocketConstructor {
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { perMessageDeflate: false, headers: { host } });
    }
  };
}

function argsOf(call: (typeof CALLS)[number], target: string, name: string): Record<string, unknown> {
  return call === "fs.read" ? { target, path: "." } : { target, input: `echo '${name}' >> log` };
}

/** Whether the answer says that it was done, was not done, or that the outcome is unknown. */
function isHonest(call: string, { ok, error }: Answer): boolean {
  if (ok) return true;
  const { outcome } = (error?.details ?? {}) as { outcome?: string };
  return error?.code === 503 && (call === "fs.read" ? outcome === undefined : outcome === "unknown" || /offline/.test(error.message));
}
