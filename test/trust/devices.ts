// Devices under faults (F1 to F4 of B11): connections are cut, answers are repeated and forged, two sockets claim one device,
// gateway and daemon are killed, and symbolic links wait where files are written. Nothing hangs, runs on the wrong device or runs
// twice, and an unknown outcome is reported as unknown. `--rounds N` for more claims, `--kills N` for more kills, `--seconds N`
// for a longer command, `--seed S`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILD } from "../support/current-build.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate } from "../support/people.ts";
import { Bar, numberFlag } from "./bar.ts";
import { Random } from "./crash/random.ts";
import { Asker } from "./devices/asker.ts";
import { claims } from "./devices/claims.ts";
import { kills } from "./devices/kills.ts";
import { life } from "./devices/life.ts";
import { planted } from "./devices/planted.ts";
import { cutsInACall, ledgers, type Place, replays } from "./devices/faults.ts";

const SECONDS = numberFlag("seconds", 8);
const KILLS = numberFlag("kills", 6);
const ROUNDS = numberFlag("rounds", 100);
const seed = numberFlag("seed", Math.floor(Math.random() * 2 ** 31));

const bar = new Bar("B11 trust:devices");
const scratch = mkdtempSync(join(tmpdir(), "gsv-devices-"));
const random = new Random(seed);

await planted(bar, scratch);
await faults();
await life(bar, scratch, SECONDS);
await kills(bar, random, scratch, BUILD, KILLS);
rmSync(scratch, { recursive: true, force: true });
bar.end(seed);

async function faults(): Promise<void> {
  const host = await startNodeHost();
  await populate(host);
  const owner = await enter(host, ALICE);
  const { token } = await owner.call("sys.token.create", { kind: "user" });
  const askers: Asker[] = [];
  const makePlace = async (): Promise<Place> => {
    const ask = await Asker.enter(host.url, { username: "alice", token: token.token });
    askers.push(ask);
    return {
      bar,
      url: host.url,
      scratch,
      owner,
      ask,
      async tokenFor(deviceId) {
        const { token: issued } = await owner.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
        return { username: "alice", token: issued.token };
      },
    };
  };
  // Its late answer takes a minute, so it runs in parallel.
  const replaysDone = replays(await makePlace());
  await cutsInACall(await makePlace());
  await ledgers(await makePlace());
  await claims(await makePlace(), random, ROUNDS);
  await replaysDone;
  bar.numbers.hangs = askers.reduce((sum, { hangs }) => sum + hangs, 0);
  bar.check("no hangs", bar.numbers.hangs === 0, () => `${bar.numbers.hangs} calls were never answered`);
  for (const ask of askers) ask.close();
  owner.close();
  await host.close();
}
