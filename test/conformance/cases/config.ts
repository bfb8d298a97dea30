// sys.config.*: who sees and who may set which key. And sys.info.

import { expect } from "vitest";
import { NATIVE_LIMITS } from "../../../src/hardware/filesystem.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Client, ReceivedSignal } from "../../../src/client/client.ts";
import { expectRefusal, refusal, verifies } from "../verifies.ts";

verifies("sys.config.get:key", async ({ alice }) => {
  expect(await (await alice()).call("sys.config.get", { key: "config/server/name" })).toEqual({
    entries: [{ key: "config/server/name", value: "gsv" }],
  });
});

verifies("sys.config.get:prefix", async ({ alice, root }) => {
  const admin = await root();
  for (const key of ["b", "a", "a/c", "ab"]) await admin.call("sys.config.set", { key: `config/prefix/${key}`, value: key });
  const { entries } = await (await alice()).call("sys.config.get", { key: "config/prefix" });
  expect(entries).toEqual(["a", "a/c", "ab", "b"].map((key) => ({ key: `config/prefix/${key}`, value: key })));
  expect((await admin.call("sys.config.get", { key: "config/prefix/" })).entries).toEqual(entries);
  expect((await admin.call("sys.config.get", { key: "config/nothing/here" })).entries).toEqual([]);
});

verifies("sys.config.get:all", async ({ alice, root }) => {
  const client = await alice();
  const { uid } = client.session.identity.process;
  await client.call("sys.config.set", { key: `users/${uid}/ai/model`, value: "mine" });
  const keys = (await client.call("sys.config.get", {})).entries.map(({ key }) => key);
  expect(keys).toEqual(keys.toSorted());
  expect(keys).toContain("config/server/timezone");
  expect(keys).toContain(`users/${uid}/ai/model`);
  expect((await (await root()).call("sys.config.get", {})).entries.map(({ key }) => key)).toContain("config/ai/api_key");
});

verifies("sys.config.get:sensitive", async ({ alice, root }) => {
  const admin = await root();
  const client = await alice();
  const names = ["api_key", "secret", "token", "password", "access_token", "refresh_token", "client_secret", "my_API_KEY", "db_password"];
  for (const name of names) await admin.call("sys.config.set", { key: `config/hidden/${name}`, value: "canary" });
  expect((await admin.call("sys.config.get", { key: "config/hidden" })).entries).toHaveLength(names.length);
  expect((await client.call("sys.config.get", { key: "config/hidden" })).entries).toEqual([]);
  for (const name of names)
    await expectRefusal(
      client.call("sys.config.get", { key: `config/hidden/${name}` }),
      403,
      `Permission denied: cannot read config/hidden/${name}`,
    );
  // Unset and set sensitive keys answer the same.
  await expectRefusal(
    client.call("sys.config.get", { key: "config/unset/api_key" }),
    403,
    "Permission denied: cannot read config/unset/api_key",
  );
  expect(JSON.stringify(await client.call("sys.config.get", {}))).not.toContain("canary");
});

verifies("sys.config.get:foreign", async ({ alice, bob }) => {
  const client = await alice();
  const { uid } = client.session.identity.process;
  await client.call("sys.config.set", { key: `users/${uid}/ai/model`, value: "mine" });
  const other = await bob();
  const there = await refusal(other.call("sys.config.get", { key: `users/${uid}/ai/model` }));
  const absent = await refusal(other.call("sys.config.get", { key: `users/${uid}/ai/nothing` }));
  expect([there.code, there.message.replace("model", "nothing")]).toEqual([absent.code, absent.message]);
  expect(there.code).toBe(403);
  await expectRefusal(other.call("sys.config.get", { key: `users/${uid}` }), 403);
  expect((await other.call("sys.config.get", { key: "users" })).entries.filter(({ key }) => key.startsWith(`users/${uid}/`))).toEqual([]);
});

verifies("sys.config.set:root", async ({ root }) => {
  const admin = await root();
  expect(await admin.call("sys.config.set", { key: "config/test/any", value: "one" })).toEqual({ ok: true });
  await admin.call("sys.config.set", { key: "config/test/any", value: "two" });
  expect((await admin.call("sys.config.get", { key: "config/test/any" })).entries).toEqual([{ key: "config/test/any", value: "two" }]);
  const version = { key: "config/server/version", value: "9.9.9" };
  await expectRefusal(admin.call("sys.config.set", version), 403, "Permission denied: config/server/version is read-only");
});

verifies("sys.config.set:own", async ({ alice, bob }) => {
  const client = await alice();
  const { uid } = client.session.identity.process;
  const other = (await bob()).session.identity.process.uid;
  await client.call("sys.config.set", { key: `users/${uid}/ai/provider`, value: "openai" });
  await expectRefusal(
    client.call("sys.config.set", { key: "config/server/name", value: "x" }),
    403,
    "Permission denied: only root can set system config (config/server/name)",
  );
  await expectRefusal(
    client.call("sys.config.set", { key: `users/${other}/ai/model`, value: "x" }),
    403,
    `Permission denied: cannot write another user's config (users/${other}/ai/model)`,
  );
  await expectRefusal(
    client.call("sys.config.set", { key: `users/${uid}/pkg/x`, value: "x" }),
    403,
    'Permission denied: key "pkg/x" is not user-overridable (allowed prefixes: ai/)',
  );
  await expectRefusal(
    client.call("sys.config.set", { key: "users/999999/ai/model", value: "x" }),
    403,
    "Permission denied: cannot write another user's config (users/999999/ai/model)",
  );
});

verifies("sys.config.unset:default", async ({ alice, bob, root }) => {
  const [admin, client] = [await root(), await alice()];
  const { uid } = client.session.identity.process;
  const valuesOf = async (key: string) => (await admin.call("sys.config.get", { key })).entries.map(({ value }) => value);
  const shipped = "config/ai/context.d/00-gsv.md";
  const before = await valuesOf(shipped);
  await admin.call("sys.config.set", { key: shipped, value: "" });
  expect(await valuesOf(shipped)).toEqual([""]);
  expect(await admin.call("sys.config.unset", { key: shipped })).toEqual({ ok: true, wasSet: true });
  expect(await valuesOf(shipped)).toEqual(before);
  expect(await admin.call("sys.config.unset", { key: shipped })).toEqual({ ok: true, wasSet: false });
  const own = `users/${uid}/ai/model`;
  await client.call("sys.config.set", { key: own, value: "mine" });
  await expectRefusal(
    (await bob()).call("sys.config.unset", { key: own }),
    403,
    `Permission denied: cannot write another user's config (${own})`,
  );
  expect(await client.call("sys.config.unset", { key: own })).toEqual({ ok: true, wasSet: true });
  expect(await valuesOf(own)).toEqual([]);
  await expectRefusal(
    client.call("sys.config.unset", { key: shipped }),
    403,
    `Permission denied: only root can set system config (${shipped})`,
  );
  await expectRefusal(admin.call("sys.config.unset", { key: "config/server/version" }), 403, /read-only/);
  await expectRefusal(admin.call("sys.config.unset", { key: "a//b" }), 400);
});

verifies("sys.config.set:announces", async ({ alice, bob, root }) => {
  const [admin, own, other] = [await root(), await alice(), await bob()];
  const heard = { own: 0, other: 0 };
  const isConfig = ({ signal, payload }: ReceivedSignal) => signal === "sys.changed" && payload.changes.includes("config");
  own.onSignal((sent) => void (heard.own += Number(isConfig(sent))));
  other.onSignal((sent) => void (heard.other += Number(isConfig(sent))));
  await admin.call("sys.config.set", { key: `users/${own.session.identity.process.uid}/ai/model`, value: "theirs" });
  await admin.call("sys.config.set", { key: "config/announced/setting", value: "1" });
  await expect.poll(() => heard.own).toBe(2);
  await admin.call("sys.config.unset", { key: "config/announced/setting" });
  await expect.poll(() => heard.own).toBe(3);
  // What was sent to bob before has arrived with this answer.
  await other.call("sys.info", {});
  expect(heard.other).toBe(2);
  await admin.call("sys.config.unset", { key: `users/${own.session.identity.process.uid}/ai/model` });
});

verifies("sys.config.set:coerces", async ({ root }) => {
  const admin = await root();
  for (const [value, text] of [
    [7, "7"],
    [true, "true"],
    ["", ""],
    [1.5, "1.5"],
  ] as const) {
    await admin.call("sys.config.set", { key: "config/test/coerced", value });
    expect((await admin.call("sys.config.get", { key: "config/test/coerced" })).entries).toEqual([
      { key: "config/test/coerced", value: text },
    ]);
  }
});

verifies("sys.config.set:requires", async ({ root }) => {
  const admin = await root();
  await expectRefusal(admin.call("sys.config.set", { value: "x" } as never), 400, "sys.config.set requires a key");
  await expectRefusal(admin.call("sys.config.set", { key: "", value: "x" }), 400, "sys.config.set requires a key");
  await expectRefusal(admin.call("sys.config.set", { key: "config/x" } as never), 400, "sys.config.set requires a value");
  await expectRefusal(admin.call("sys.config.set", { key: "config/x", value: null } as never), 400, "sys.config.set requires a value");
  await expectRefusal(admin.call("sys.config.set", { key: "config/x", value: {} } as never), 400, "sys.config.set requires a value");
  for (const key of ["/config/x", "config//x", "config/x/", "config/\nx", "config/ x"])
    await expectRefusal(admin.call("sys.config.set", { key, value: "x" }), 400);
});

verifies("sys.vitals:gateway", async ({ alice, host }) => {
  const vitals = await (await alice()).call("sys.vitals", {});
  expect(vitals).toMatchObject({ system: expect.stringMatching(/./), disk: { totalBytes: expect.any(Number) } });
  expect(vitals.disk!.freeBytes).toBeLessThanOrEqual(vitals.disk!.totalBytes);
  if (host.name !== "node") return;
  expect(vitals.memory!.totalBytes).toBeGreaterThan(vitals.memory!.freeBytes);
  expect(vitals.cpuCount).toBeGreaterThan(0);
  expect(vitals.uptimeMs).toBeGreaterThan(0);
});

verifies("sys.network:facts", async ({ alice, root, host }) => {
  const [person, admin] = [await alice(), await root()];
  const shown = await person.call("sys.network", {});
  const listensOn = host.name === "node" ? "loopback" : "platform";
  expect(shown).toMatchObject({ listensOn, port: host.name === "node" ? Number(new URL(host.url).port) : null, interfaces: [] });
  expect(await admin.call("sys.network", {})).toMatchObject({ listensOn, origins: shown.origins });
});

verifies("sys.network.check:outcomes", async ({ alice, root, host }) => {
  const [person, admin] = [await alice(), await root()];
  const outcomeOf = async (who: Client, url: string) => (await who.call("sys.network.check", { url })).outcome;
  await expectRefusal(person.call("sys.network.check", { url: "file:///etc/passwd" }), 400);
  expect(await outcomeOf(person, "http://10.255.255.1:8787")).toBe("private");
  // On the other host the platform decides what may be reached.
  if (host.name !== "node") return;
  const { port } = new URL(host.url);
  expect(await outcomeOf(admin, `http://127.0.0.1:${port}`)).toBe("reached");
  expect(await outcomeOf(admin, `http://127.0.0.2:${port}`)).toMatch(/unlisted|unreachable/);
  expect(await admin.call("sys.network.check", { url: "http://127.0.0.1:1" })).toMatchObject({
    outcome: "unreachable",
    reason: expect.stringMatching(/./),
  });
});

verifies("sys.info:tells", async ({ alice, host }) => {
  const info = await (await alice()).call("sys.info", {});
  expect(info).toMatchObject({ host: host.name, limits: { ...LIMITS, ...NATIVE_LIMITS } });
  expect(Math.abs(info.now - Date.now())).toBeLessThan(60_000);
});
