// Payloads in what a device reports about itself while somebody looks: its system, and the commands that run there with their folders.

import { type Client, Connection } from "../../../src/client/client.ts";
import type { Host } from "../../support/host.ts";
import { ALICE } from "../../support/people.ts";
import type { Payload } from "./payloads.ts";

const DEVICE = "reporter";
const COUNT = 12;
const SYSTEM_CHARS = 250;

/** `check` looks at the page of the device, on which a person decides what to end. */
export async function showVitals(
  { host, alice }: { host: Host; alice: Client },
  payloads: readonly Payload[],
  check: (path: string, marks: readonly string[]) => Promise<void>,
): Promise<void> {
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff]/.test(text) && text.trim() !== "").slice(0, COUNT);
  const { token } = await alice.call("sys.token.create", { kind: "node", label: "reporter" });
  const connection = await Connection.open(host.url);
  let started = 0;
  const answers: Record<string, () => unknown> = {
    "sys.vitals": () => ({
      system: sound[0]!.text.slice(0, SYSTEM_CHARS),
      arch: null,
      cpuCount: null,
      cpuBusy: null,
      memory: null,
      disk: null,
      uptimeMs: null,
    }),
    "shell.exec": () => ({ status: "running", sessionId: `reported-${started++}`, output: "" }),
    "shell.list": () => ({
      sessions: sound.map(({ text }, at) => ({
        sessionId: `reported-${at}`,
        command: `c-${text}`,
        cwd: `f-${text}`,
        startedAt: Date.now(),
        state: "running",
      })),
    }),
  };
  connection.onRequest = ({ id, call }) => connection.answer(id, { ok: true, data: answers[call]!() });
  try {
    await connection.call("sys.connect", {
      protocol: 1,
      client: { id: DEVICE, version: "1", platform: "linux", role: "driver" },
      driver: { implements: ["shell.*", "sys.vitals"] },
      auth: { username: ALICE.username, token: token.token },
    });
    for (const _ of sound) await alice.call("shell.exec", { target: DEVICE, input: "x", until: "sent" });
    await check(`/machines/device/${DEVICE}`, [sound[0]!.mark, ...sound.flatMap(({ mark }) => [`c-${mark}`, `f-${mark}`])]);
  } finally {
    connection.close();
    await alice.call("sys.device.remove", { deviceId: DEVICE });
  }
}
