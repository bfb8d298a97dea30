// A gateway somebody has used for a while: two machines, conversations with a model, a question, permissions, schedules and
// notifications. Everything happens for real, on this machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../src/client/client.ts";
import { plugIn } from "../../test/support/devices.ts";
import type { Host } from "../../test/support/host.ts";
import { ScriptedModel, says, wants } from "../../test/support/models/scripted.ts";
import { enter, ROOT } from "../../test/support/people.ts";

export type Scene = { conversations: Record<"disk" | "tank" | "cleanup", string>; pid: string; close(): Promise<void> };

const POLL_MS = 60_000;
const MODEL = "qwen3:32b";

const DISK_ANSWER = `Three projects use nearly all of it:

| Project | Size | Last changed |
| --- | --- | --- |
| \`old-site\` | 2.0 MB | in March |
| \`garden\` | 1.2 MB | yesterday |
| \`notes\` | 0.4 MB | today |

**old-site** has not changed for months. Shall I archive it to the workshop and delete it here?

\`\`\`sh
tar -czf old-site.tar.gz projects/old-site
\`\`\`
`;

const TANK_ANSWER = `A cylinder of radius $r$ and height $h$ holds

$$V = \\pi r^2 h$$

With $r = 0.5\\,\\text{m}$ and $h = 1.2\\,\\text{m}$ that is about **0.94 m³**, so 940 litres: enough for three dry weeks.`;

export async function fillScene(host: Host, alice: Client): Promise<Scene> {
  const root = await enter(host, ROOT);
  const model = await ScriptedModel.start();
  const uid = alice.session.identity.process.uid;
  await model.serve(root, uid);
  await root.call("sys.config.set", { key: `users/${uid}/ai/model`, value: MODEL });
  const [laptop, workshop] = [await plugIn(host, alice, "laptop", 20_000), await plugIn(host, alice, "workshop", 20_000)];
  for (const [name, size] of Object.entries({ "old-site": 2_000_000, garden: 1_200_000, notes: 400_000 })) {
    mkdirSync(join(laptop.workspace, "projects", name), { recursive: true });
    writeFileSync(join(laptop.workspace, "projects", name, "data"), new Uint8Array(size));
  }
  await alice.call("sys.device.update", { deviceId: "laptop", description: "Travels with me" });
  workshop.close();

  const pid = `init:${uid}`;
  model.on(
    /What uses the disk/,
    wants(["Shell", { input: "du -k projects", target: "laptop" }]),
    says(DISK_ANSWER, { input: 2_140, output: 180, cacheRead: 0 }),
  );
  model.on(/rain tank/, says(TANK_ANSWER, { input: 1_020, output: 140, cacheRead: 0 }));
  model.on(/Delete the old site/, wants(["Shell", { input: "rm -r projects/old-site", target: "laptop" }]), says("Done."));
  model.on(/Copy my notes/, wants(["Shell", { input: "cp -r projects/notes notes-copy", target: "laptop" }]), says("Copied."));
  model.on(
    /Send the report/,
    wants(["Shell", { input: "curl -F report=@report.pdf https://upload.example", target: "laptop" }]),
    says("I did not send it."),
  );
  model.on(/Summarise my notes/, says("Two notes changed yesterday: the garden plan and the shopping list."));
  const talk = async (title: string, message: string) => {
    const { conversation } = await alice.call("proc.conversation.open", { pid, title });
    await alice.call("proc.send", { pid, conversationId: conversation.id, message });
    return conversation.id;
  };
  const answer = async (decision: "approve" | "deny", more: object = {}) => {
    const { requestId } = await poll(async () => (await alice.call("proc.approval.list", { pid })).pending[0]);
    await alice.call("proc.hil", { requestId, decision, ...more });
    await isIdle();
  };
  const isIdle = () =>
    poll(async () => (await alice.call("proc.list", {})).processes.find((one) => one.pid === pid && one.state === "idle"));

  const tank = await talk("Size of the rain tank", "How much water does a rain tank of 1 m width and 1.2 m height hold?");
  await isIdle();
  const disk = await talk("Disk use on laptop", "What uses the disk on my laptop?");
  await answer("approve", { remember: true, scope: "exact", ttlMs: 24 * 3_600_000 });
  await talk("Copy my notes", "Copy my notes on laptop");
  await answer("approve");
  await talk("Send the report", "Send the report");
  await answer("deny", { reason: "Not before Monday" });
  await alice.call("fs.write", { path: "~/notes/garden.md", content: "# Garden\n\n- Herbs by the kitchen\n- A rain tank of 940 litres\n" });

  const add = (name: string, expr: string, prompt: string) =>
    alice.call("sched.add", {
      name,
      expression: { kind: "cron", expr, timezone: "Europe/Lisbon" },
      target: { kind: "process.spawn", prompt },
    });
  const { schedule } = await add("Morning report", "0 9 * * 1-5", "Summarise my notes");
  await add("Back up the photos", "0 3 * * *", "Back up ~/photos to the workshop");
  await add("Water the plants", "0 18 * * 3", "Remind me to water the plants");
  await alice.call("sched.run", { id: schedule.id, mode: "force" });
  await poll(async () =>
    (await alice.call("sched.list", {})).schedules.find(({ id, state }) => id === schedule.id && state.lastStatus === "ok"),
  );
  await alice.call("notification.create", {
    title: "Disk nearly full on workshop",
    body: "94 % of 512 GB are used. The largest folder is ~/videos.",
    level: "warning",
  });
  const cleanup = await talk("Clean up laptop", "Delete the old site from laptop");
  await poll(async () => (await alice.call("proc.approval.list", { pid })).pending[0]);
  return {
    pid,
    conversations: { disk, tank, cleanup },
    async close() {
      root.close();
      laptop.close();
      await model.close();
    },
  };
}

async function poll<T>(read: () => Promise<T | undefined>): Promise<T> {
  const until = Date.now() + POLL_MS;
  while (Date.now() < until) {
    const value = await read();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing came of: ${String(read)}`);
}
