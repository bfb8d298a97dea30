// fs.* on the files that the tree keeps in git: a home's context, skills and knowledge, and workspaces.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { expectRefusal, verifies } from "../verifies.ts";

let made = 0;
const name = (prefix: string) => `${prefix}-${made++}`;
const write = (client: Client, path: string, content: string) => client.call("fs.write", { path, content });
const read = (client: Client, path: string) => client.call("fs.read", { path });
const log = async (client: Client, repo: string) => (await client.call("repo.log", { repo, limit: 5 })).entries;
const newest = async (client: Client, repo: string) => (await log(client, repo))[0]!;

verifies("fs.read:home", async ({ bob, root, alice }) => {
  const [client, admin] = [await bob(), await root()];
  expect(await read(client, "~")).toMatchObject({ directories: expect.arrayContaining(["context.d", "knowledge", "skills.d"]) });
  expect(await read(client, "~/context.d")).toMatchObject({ files: ["00-constitution.md", "10-user.md"] });
  expect(await read(client, "~/knowledge")).toEqual({ ok: true, path: "/home/bob/knowledge", files: [], directories: ["inbox"] });
  expect(await read(client, "~/context.d/10-user.md")).toMatchObject({ ok: true, content: expect.stringContaining("bob") });
  expect(await read(admin, "/home/bob/context.d/10-user.md")).toMatchObject({ ok: true });
  expect(await read(await alice(), "/home/bob/context.d/10-user.md")).toEqual({
    ok: false,
    error: "Permission denied: /home/bob/context.d/10-user.md",
  });
  expect((await log(client, "bob/home")).at(-1)).toMatchObject({ message: expect.stringMatching(/^gsv: scaffold home knowledge\n?$/) });
});

verifies("fs.write:home", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const file = `knowledge/${name("note")}.md`;
  expect(await write(client, `~/${file}`, "one\n")).toEqual({ ok: true, path: `/home/alice/${file}`, size: 4 });
  expect(await newest(client, "alice/home")).toMatchObject({ author: "alice", authorEmail: "alice@gsv.local" });
  expect((await newest(client, "alice/home")).message.trim()).toBe(`gsv: write ${file}`);
  expect(await client.call("repo.read", { repo: "alice/home", path: file })).toMatchObject({ kind: "file", content: "one\n" });
  expect(await client.call("fs.edit", { path: `~/${file}`, oldString: "one", newString: "two" })).toMatchObject({
    ok: true,
    replacements: 1,
  });
  const { head } = await client.call("repo.apply", {
    repo: "alice/home",
    message: "by call",
    ops: [{ type: "put", path: file, content: "three\n" }],
  });
  expect(head).toMatch(/^[0-9a-f]{40}$/);
  expect(await read(client, `~/${file}`)).toMatchObject({ content: "     1\tthree" });
  await write(admin, `/home/alice/${file}`, "root's\n");
  expect(await newest(client, "alice/home")).toMatchObject({ author: "root" });
  // The other files of a home are not in git.
  const before = (await newest(client, "alice/home")).hash;
  await write(client, `~/${name("plain")}`, "x");
  expect((await newest(client, "alice/home")).hash).toBe(before);
});

verifies("fs.write:workspace", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const { workspace } = await client.call("sys.workspace.create", { label: "Trip" });
  const id = workspace.workspaceId;
  const at = `/workspaces/${id}`;
  expect(await read(client, "/workspaces")).toMatchObject({ directories: expect.arrayContaining([id]) });
  expect(await read(client, `${at}/.gsv/workspace.json`)).toMatchObject({ ok: true, content: expect.stringContaining("Trip") });
  expect(await write(client, `${at}/plans/a.md`, "go\n")).toMatchObject({ ok: true });
  expect((await newest(client, `alice/${id}`)).message.trim()).toBe("gsv: write plans/a.md");
  expect(await client.call("shell.exec", { cwd: at, input: "cat plans/a.md; echo more >> plans/a.md; mkdir empty; ls" })).toMatchObject({
    output: "go\nempty\nplans\n",
  });
  expect(await client.call("repo.read", { repo: `alice/${id}`, path: "plans/a.md" })).toMatchObject({ content: "go\nmore\n" });
  expect(await read(admin, `${at}/plans/a.md`)).toMatchObject({ ok: true });
  await client.call("sys.workspace.update", { workspaceId: id, state: "archived" });
  expect(await write(client, `${at}/plans/a.md`, "no")).toMatchObject({ ok: false, error: expect.stringContaining("archived") });
  expect(await read(client, `${at}/plans/a.md`)).toMatchObject({ ok: true });
  const put = { repo: `alice/${id}`, message: "no", ops: [{ type: "put" as const, path: "x", content: "" }] };
  await expectRefusal(client.call("repo.apply", put), 409, /is archived/);
  await client.call("sys.workspace.update", { workspaceId: id, state: "active" });
  await client.call("repo.apply", put);
  expect(await write(client, `${at}/plans/a.md`, "yes")).toMatchObject({ ok: true });
});

verifies("fs.read:workspace-foreign", async ({ alice, bob }) => {
  const [client, other] = [await alice(), await bob()];
  const { workspace } = await client.call("sys.workspace.create", {});
  const absent = "ws_00000000-0000-4000-8000-000000000000";
  for (const tail of ["", "/.gsv/workspace.json", "/new"]) {
    const told = async (id: string) => JSON.stringify(await read(other, `/workspaces/${id}${tail}`)).replaceAll(id, "ID");
    expect(await told(workspace.workspaceId)).toBe(await told(absent));
  }
  const refused = async (id: string) => JSON.stringify(await write(other, `/workspaces/${id}/x`, "")).replaceAll(id, "ID");
  expect(await refused(workspace.workspaceId)).toBe(await refused(absent));
  expect(JSON.stringify(await read(other, "/workspaces"))).not.toContain(workspace.workspaceId);
});

verifies("fs.delete:git", async ({ alice }) => {
  const client = await alice();
  const { workspace } = await client.call("sys.workspace.create", {});
  const at = `/workspaces/${workspace.workspaceId}`;
  await write(client, `${at}/d/a`, "1");
  await write(client, `${at}/d/e/b`, "2");
  expect(await client.call("fs.delete", { path: `${at}/d` })).toEqual({ ok: true, path: `${at}/d` });
  expect((await newest(client, `alice/${workspace.workspaceId}`)).message.trim()).toBe("gsv: rm d");
  expect(await read(client, `${at}/d/e/b`)).toMatchObject({ ok: false });
  for (const path of [at, "/workspaces", "/home/alice"]) expect(await client.call("fs.delete", { path })).toMatchObject({ ok: false });
});

verifies("fs.search:git", async ({ alice }) => {
  const client = await alice();
  const word = name("needle");
  await write(client, `~/knowledge/deep/${word}.md`, `first\nhere is a ${word}\n`);
  await write(client, `~/plain-${word}`, `${word} too\n`);
  expect(await client.call("fs.search", { query: word, path: "~" })).toEqual({
    ok: true,
    count: 2,
    matches: [
      { path: `/home/alice/knowledge/deep/${word}.md`, line: 2, content: `here is a ${word}` },
      { path: `/home/alice/plain-${word}`, line: 1, content: `${word} too` },
    ],
  });
});
