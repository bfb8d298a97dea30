// How a gateway handles secrets that its key does not open: after its key file was replaced, and if rows are damaged.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { startNodeHost } from "../support/node-host.ts";
import { ALICE, enter, populate, ROOT } from "../support/people.ts";

const SEALED = "config/ai/api_key";
const OWN = "users/1000/ai/api_key";

const home = mkdtempSync(join(tmpdir(), "gsv-sealed-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test("a gateway with another key file names each secret it cannot unseal, and everything else works", async () => {
  const host = await startNodeHost({ home });
  await populate(host);
  const before = await enter(host, ROOT);
  for (const [key, value] of [
    ["config/ai/provider", "openai"],
    ["config/ai/model", "gpt-5"],
    [SEALED, "sk-canary"],
    [OWN, "sk-canary-own"],
    ["config/server/name", "attic"],
  ] as const)
    await before.call("sys.config.set", { key, value });
  const creation = { args: { kind: "user", label: "laptop" } as const, key: "made once" };
  await before.call("sys.token.create", creation.args, { key: creation.key });
  before.close();
  writeFileSync(join(home, "secret.key"), randomBytes(32));
  await host.restart();

  const root = await enter(host, ROOT);
  await expect(root.call("sys.config.get", { key: SEALED })).rejects.toMatchObject({
    code: 409,
    message: `${SEALED} cannot be opened: set it again, or restore the gateway's secret key from a backup`,
    details: { key: SEALED },
  });
  const { entries } = await root.call("sys.config.get", {});
  expect(entries).toContainEqual({ key: "config/server/name", value: "attic" });
  expect(entries.filter(({ problem }) => problem !== undefined).map(({ key, value }) => [key, value])).toEqual([
    [SEALED, ""],
    [OWN, ""],
  ]);
  expect(await secretsOf(root)).toMatchObject({ state: "fail", says: expect.stringContaining(`: ${SEALED}, ${OWN}.`) as string });

  const file = await root.call("fs.read", { path: `/sys/${SEALED}` });
  expect(file).toMatchObject({ ok: false, error: expect.stringContaining("cannot be opened") as string });
  const { output } = (await root.call("shell.exec", { input: "ls /sys/config/ai; cat /sys/config/ai/model" })) as { output: string };
  expect(output).toMatch(/api_key\n[^]*gpt-5/);

  await expect(root.call("sys.token.create", creation.args, { key: creation.key })).rejects.toMatchObject({
    code: 409,
    details: { outcome: "unknown" },
  });

  const alice = await enter(host, ALICE);
  expect(await secretsOf(alice)).toMatchObject({ state: "fail", says: expect.stringContaining(`: ${OWN}.`) as string });
  const finished = new Promise<unknown>((resolve) =>
    alice.onSignal(({ signal, payload }) => {
      if (signal === "proc.run.finished") resolve(payload);
    }),
  );
  await alice.call("proc.send", { message: "Hello" });
  expect(await finished).toMatchObject({ status: "error", error: expect.stringContaining(`${SEALED} cannot be opened`) as string });
  alice.close();

  for (const key of [SEALED, OWN]) await root.call("sys.config.set", { key, value: "sk-new" });
  expect(await secretsOf(root)).toMatchObject({ state: "ok" });
  root.close();
  await host.close();
  const rows = new DatabaseSync(join(home, "kernel.db"));
  rows.prepare("UPDATE config_kv SET value = 'damaged' WHERE key = ?").run(SEALED);
  rows.close();
  const damaged = await startNodeHost({ home });
  const again = await enter(damaged, ROOT);
  await expect(again.call("sys.config.get", { key: SEALED })).rejects.toMatchObject({ code: 409 });
  expect((await again.call("sys.config.get", { key: OWN })).entries).toEqual([{ key: OWN, value: "sk-new" }]);
  again.close();
  await damaged.close();
});

async function secretsOf(client: Client): Promise<unknown> {
  return (await client.call("sys.doctor", {})).checks.find(({ id }) => id === "secrets");
}
