// A long command outlives everything around it: the gateway restarts, the daemon's connection is cut, and its caller disconnects.
// Others read its output to the end, with nothing missing and nothing doubled.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, connect } from "../../../src/client/client.ts";
import { startDevice } from "../../../src/device/device.ts";
import { startNodeHost } from "../../support/node-host.ts";
import { ALICE, populate } from "../../support/people.ts";
import { steadyPort } from "../../support/steady-port.ts";
import type { Bar } from "../bar.ts";
import { pause } from "./asker.ts";
import { named } from "./faults.ts";
import { Proxy } from "./proxy.ts";

const DEVICE = "long";
const LINES_PER_SECOND = 20;

export async function life(bar: Bar, scratch: string, seconds: number): Promise<void> {
  const port = await steadyPort();
  const host = await startNodeHost({ port: String(port) });
  await populate(host);
  const enter = () => connect({ url: host.url, auth });
  let auth: Parameters<typeof connect>[0]["auth"] = ALICE;
  let client = await enter();
  // A password would be hashed at each reconnect; a token is not.
  auth = { username: "alice", token: (await client.call("sys.token.create", { kind: "user" })).token.token };
  client.close();
  client = await enter();
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: DEVICE });
  const proxy = await Proxy.to(port);
  const workspace = join(scratch, DEVICE);
  mkdirSync(workspace);
  const device = await startDevice({
    url: proxy.url,
    auth: { username: "alice", token: token.token },
    deviceId: DEVICE,
    workspace,
    state: join(scratch, "long-state"),
    waitMs: 300,
    WebSocket: named(new URL(host.url).host),
  });
  const count = seconds * LINES_PER_SECOND;
  // It runs until all troubles have happened, up to a limit: on a slow machine each takes longer.
  const input = `i=0; while [ $i -lt ${count} ] || { [ ! -e enough ] && [ $i -lt ${count * 10} ]; }; do i=$((i+1)); echo $i; sleep ${1 / LINES_PER_SECOND}; done`;
  const troubles = [() => host.restart(), async () => proxy.cut(), async () => client.close()];
  const started = Date.now();
  const first = await client.call("shell.exec", { target: DEVICE, input });
  bar.check("long command begun", first.status === "running", () => JSON.stringify(first));
  let result = first;
  let output = first.output;
  let done = 0;
  let troubleDone: Promise<unknown> = Promise.resolve();
  while (result.status === "running") {
    // The troubles happen one after the other, spread over its runtime, each while a poll is in progress.
    if (done < troubles.length && Date.now() - started > ((done + 1) * seconds * 1_000) / (troubles.length + 2)) {
      const trouble = troubles[done++]!;
      const isLast = done === troubles.length;
      troubleDone = pause(100)
        .then(trouble)
        .then(() => isLast && writeFileSync(join(workspace, "enough"), ""));
    }
    const { sessionId }: { sessionId: string } = result;
    const key = `poll ${output.length} ${Math.random()}`;
    const poll = (by: Client) => by.call("shell.exec", { target: DEVICE, sessionId, input: "" }, { key });
    result = await poll(client).catch(async () => {
      await troubleDone;
      client = await enter();
      return poll(client);
    });
    output += result.output;
  }
  await troubleDone;
  const lines = Math.max(count, output.split("\n").length - 1);
  const wanted = Array.from({ length: lines }, (_, at) => `${at + 1}\n`).join("");
  bar.check("troubles", done === troubles.length, () => `only ${done} of ${troubles.length} troubles came in time`);
  bar.check("long command", result.status === "completed", () => JSON.stringify(result));
  bar.check("its output", output === wanted, () => `${output.length} of ${wanted.length} characters: ${output.slice(-200)}`);
  bar.numbers["long command, s"] = Math.round((Date.now() - started) / 1_000);
  client.close();
  device.close();
  await proxy.close();
  await host.close();
}
