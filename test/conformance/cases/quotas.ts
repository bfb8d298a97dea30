// Quotas: how much a user may store in any way, without effect on others.

import { randomBytes } from "node:crypto";
import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { verifies, expectRefusal, type World } from "../verifies.ts";

const LIMIT_BYTES = 400_000;
const PASSWORD = "a password that is long enough";
let made = 0;

type Person = { client: Client; auth: { username: string; password: string }; uid: number; username: string };

/** A new user with a small quota. */
async function createLimitedUser({ root, connect }: World, bytes: number | string = LIMIT_BYTES): Promise<Person> {
  const admin = await root();
  const username = `quota${made++}`;
  const { user } = await admin.call("sys.user.create", { username, password: PASSWORD });
  await admin.call("sys.config.set", { key: `config/files/user_quota_bytes/${user.uid}`, value: bytes });
  const auth = { username, password: PASSWORD };
  return { client: await connect(auth), auth, uid: user.uid, username };
}

/** Text that does not compress. */
const text = (bytes: number) => randomBytes(bytes).toString("base64").slice(0, bytes);
const write = (client: Client, path: string, content: string) => client.call("fs.write", { path, content });
const usedBytes = async (client: Client) =>
  Number(((await client.call("fs.read", { path: "/proc/self/quota" })) as { content: string }).content.trim().split(/\s+/)[1]);

async function runToEnd(client: Client, input: string) {
  let answer = await client.call("shell.exec", { input });
  while (answer.status === "running") answer = await client.call("shell.exec", { sessionId: answer.sessionId, input: "" });
  return answer;
}

verifies("fs.write:quota", async (world) => {
  const { client, username, uid } = await createLimitedUser(world);
  const refused = {
    ok: false,
    error: expect.stringMatching(new RegExp(`Quota exceeded: ${username} uses .* of 390\\.62 KiB.*user_quota_bytes/${uid}`)),
  };
  const large = text(300_000);
  expect(await write(client, "~/a", large)).toMatchObject({ ok: true });
  expect(await write(client, "~/e", "mark\n")).toMatchObject({ ok: true });
  const full = await usedBytes(client);
  expect(full).toBeGreaterThan(300_000);

  expect(await write(client, "~/b", large)).toMatchObject(refused);
  expect(await write(client, "~/deep/er/b", large)).toMatchObject(refused);
  expect(await client.call("fs.edit", { path: "~/e", oldString: "mark", newString: large })).toMatchObject(refused);
  const content = randomBytes(200_000);
  let sent = 0;
  const read = async (start: number, end: number) => {
    sent += end - start;
    return content.subarray(start, end);
  };
  const outgoing = { size: content.length, version: "", mode: 0o644, read };
  for (const tag of [undefined, "again"])
    expect(await client.upload({ path: "~/b", size: content.length, ...(tag === undefined ? {} : { tag }) }, outgoing)).toMatchObject(
      refused,
    );
  expect(sent, "it is refused before anything is sent").toBe(0);
  expect(await client.call("fs.copy", { from: { path: "~/a" }, to: { path: "~/b" } })).toMatchObject(refused);
  expect(await write(client, "~/knowledge/b.md", text(200_000))).toMatchObject(refused);
  for (const command of ["head -c 200000 /dev/urandom > ~/b", "cp ~/a ~/b", "cat ~/a >> ~/e", "cat ~/a | tee ~/b > /dev/null"]) {
    const answer = await runToEnd(client, command);
    expect(answer, command).toMatchObject({ status: "failed", output: expect.stringContaining("Disk quota exceeded") });
    await runToEnd(client, "rm -f ~/b");
  }
  expect(await client.call("fs.read", { path: "~/e" })).toMatchObject({ content: expect.stringContaining("mark") });
  // Refused and attempted writes left nothing, except for the first files of the home.
  expect((await usedBytes(client)) - full).toBeLessThan(20_000);

  const shown = (await runToEnd(client, "df -h ~")).output.trim().split("\n");
  expect(shown[0]).toMatch(/^Filesystem +Size +Used +Available +Use% +Mounted on$/);
  expect(shown[1]).toMatch(/^gsv +391K +3\d\dK +\d+K +\d\d% +\/$/);
  // Overwriting counts only the difference, and freed space can be used.
  expect(await write(client, "~/a", text(310_000))).toMatchObject({ ok: true });
  expect(await client.call("fs.delete", { path: "~/a" })).toMatchObject({ ok: true });
  expect(await write(client, "~/b", large)).toMatchObject({ ok: true });
  expect(await client.call("fs.delete", { path: "~/b" })).toMatchObject({ ok: true });
  expect(await client.upload({ path: "~/b", size: content.length }, outgoing)).toMatchObject({ ok: true });
  expect((await runToEnd(client, "rm ~/b && head -c 200000 /dev/urandom > ~/b")).status).toBe("completed");
});

verifies("fs.upload:quota", async (world) => {
  const { client } = await createLimitedUser(world, 2_000_000);
  const content = randomBytes(1_200_000);
  const whole = {
    size: content.length,
    version: "",
    mode: 0o644,
    read: async (start: number, end: number) => content.subarray(start, end),
  };
  const broken = {
    ...whole,
    read: async (start: number, end: number) => (start > 700_000 ? Promise.reject(new Error("broken off")) : whole.read(start, end)),
  };
  const args = { path: "~/up", size: content.length, tag: "up" };
  const before = await usedBytes(client);
  await expect(client.upload(args, broken)).rejects.toThrow("broken off");
  // All of it counts during the upload, and the received part afterwards.
  await expect.poll(async () => (await usedBytes(client)) - before).toBeLessThan(content.length);
  expect((await usedBytes(client)) - before).toBeGreaterThan(200_000);
  expect(await write(client, "~/b", text(1_900_000))).toMatchObject({ ok: false });
  expect(await client.upload(args, whole)).toMatchObject({ ok: true });
  expect((await usedBytes(client)) - before).toBe(content.length + 512);
});

verifies("fs.write:quota-others", async (world) => {
  const { client, auth, uid, username } = await createLimitedUser(world);
  const [root, bob] = [await world.root(), await world.bob()];
  await write(client, "~/a", text(350_000));
  await root.call("sys.config.set", { key: `config/files/user_quota_bytes/${uid}`, value: 1000 });
  expect(await write(client, "~/b", "x")).toMatchObject({ ok: false });
  // Nobody else is affected, not even in shared directories.
  expect(await write(bob, `~/quota-${made}`, text(100_000))).toMatchObject({ ok: true });
  expect(await write(bob, `/tmp/quota-${made}`, "x")).toMatchObject({ ok: true });
  expect(await usedBytes(root)).toBeGreaterThan(0);
  expect(await write(root, `/home/${username}/roots`, "x")).toMatchObject({ ok: true });
  const checks = async (who: Client) => (await who.call("sys.doctor", {})).checks.find(({ id }) => id === "quota");
  expect(await checks(root)).toMatchObject({ state: "warn", says: expect.stringContaining(username) });
  expect(await checks(client)).toMatchObject({ state: "warn", says: expect.stringContaining("of 1000 B") });
  expect(await checks(bob)).toMatchObject({ state: "ok" });
  // A new owner is charged for the file.
  const before = await usedBytes(client);
  await root.call("fs.write", { path: `/tmp/given-${uid}`, content: "y".repeat(10_000) });
  await runToEnd(root, `chown ${username} /tmp/given-${uid}`);
  expect((await usedBytes(client)) - before).toBe(10_512);

  // Media sent to an agent counts too; killing a process, which archives its history, always works.
  const { pid } = await client.call("proc.spawn", {});
  const media = [{ type: "image" as const, mimeType: "image/png", data: randomBytes(30_000).toString("base64") }];
  await expectRefusal(client.call("proc.send", { pid, message: "What is this?", media }), 507, /^Quota exceeded/);
  await client.call("proc.kill", { pid });

  const again = await world.connect(auth);
  expect(await again.call("fs.read", { path: "~/a", limit: 1 })).toMatchObject({ ok: true });
  expect(await write(again, "~/a", "less")).toMatchObject({ ok: true });
  expect(await again.call("fs.delete", { path: `/tmp/given-${uid}` })).toMatchObject({ ok: true });
  expect(await again.call("fs.delete", { path: "~/a" })).toMatchObject({ ok: true });
  expect(await usedBytes(again)).toBeLessThan(before);
});

verifies("repo.apply:quota", async (world) => {
  const { client, username } = await createLimitedUser(world);
  const put = (repo: string, path: string, content: string) =>
    client.call("repo.apply", { repo, message: "m", ops: [{ type: "put", path, content }] });
  const { workspace } = await client.call("sys.workspace.create", {});
  const before = await usedBytes(client);
  await put(`${username}/one`, "a", text(200_000));
  expect((await usedBytes(client)) - before).toBeGreaterThan(140_000);
  await put(`${username}/two`, "a", text(100_000));
  await expectRefusal(put(`${username}/two`, "b", text(250_000)), 507, /^Quota exceeded/);
  expect(await write(client, `/workspaces/${workspace.workspaceId}/b`, text(250_000))).toMatchObject({
    ok: false,
    error: expect.stringContaining("Quota exceeded"),
  });
  expect(await write(client, "~/b", text(250_000))).toMatchObject({ ok: false });
  await client.call("repo.apply", { repo: `${username}/two`, message: "rm", ops: [{ type: "delete", path: "a" }] });
  await put(`${username}/two`, "c", "small");

  // Concurrent writes get no more than sequential ones.
  const many = await createLimitedUser(world);
  const { workspace: theirs } = await many.client.call("sys.workspace.create", {});
  const together = [
    ...Array.from({ length: 4 }, (_, at) =>
      many.client
        .call("repo.apply", { repo: `${many.username}/r${at}`, message: "m", ops: [{ type: "put", path: "a", content: text(380_000) }] })
        .catch((error: Error) => ({ ok: false, error: error.message })),
    ),
    write(many.client, `/workspaces/${theirs.workspaceId}/a`, text(380_000)),
    write(many.client, "~/knowledge/a.md", text(380_000)),
  ];
  const answers = await Promise.all(together);
  expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
  for (const answer of answers) if (!answer.ok) expect(answer).toMatchObject({ error: expect.stringContaining("Quota exceeded") });
  expect(await usedBytes(many.client)).toBeLessThanOrEqual(LIMIT_BYTES);
});

verifies("sys.config.set:quota", async (world) => {
  const [root, alice] = [await world.root(), await world.alice()];
  const { client, uid } = await createLimitedUser(world, "unlimited");
  const key = "config/files/quota_bytes";
  const set = (value: string | number) => root.call("sys.config.set", { key, value });
  await expectRefusal(set("10 GB"), 400, /config\/files\/quota_bytes must be a whole number of bytes or "unlimited"/);
  await expectRefusal(root.call("sys.config.set", { key: "config/files/user_quota_bytes/alice", value: 1 }), 400, /followed by a uid/);
  await expectRefusal(alice.call("sys.config.set", { key: `config/files/user_quota_bytes/${uid}`, value: 1 }), 403);
  await set(0);
  try {
    expect(await write(alice, "~/nothing", "x")).toMatchObject({ ok: false, error: expect.stringContaining("of 0 B") });
    expect(await write(client, "~/something", "x")).toMatchObject({ ok: true });
  } finally {
    await set("");
  }
  expect(await write(alice, "~/something", "x")).toMatchObject({ ok: true });
});
