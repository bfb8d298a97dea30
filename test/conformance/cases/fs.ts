// fs.* on the gateway's own tree.

import { expect } from "vitest";
import type { Client } from "../../../src/client/client.ts";
import { expectRefusal, verifies } from "../verifies.ts";

let made = 0;
const name = (prefix: string) => `${prefix}-${made++}`;
const write = (client: Client, path: string, content: string) => client.call("fs.write", { path, content });
const read = (client: Client, path: string) => client.call("fs.read", { path });

verifies("fs.read:text", async ({ alice }) => {
  const client = await alice();
  const file = name("text");
  await write(client, file, "one\ntwö\n\nfour\n");
  expect(await read(client, file)).toEqual({
    ok: true,
    path: `/home/alice/${file}`,
    content: "     1\tone\n     2\ttwö\n     3\t\n     4\tfour",
    lines: 4,
    size: 15,
  });
  expect(await client.call("fs.read", { path: file, offset: 1, limit: 1 })).toMatchObject({ content: "     2\ttwö", lines: 1, size: 15 });
});

verifies("fs.read:directory", async ({ alice }) => {
  const client = await alice();
  const folder = name("folder");
  await write(client, `${folder}/b`, "");
  await write(client, `${folder}/a/x`, "");
  expect(await read(client, folder)).toEqual({ ok: true, path: `/home/alice/${folder}`, files: ["b"], directories: ["a"] });
  expect(await read(client, "/")).toEqual({
    ok: true,
    path: "/",
    files: [],
    directories: ["dev", "etc", "home", "proc", "root", "sys", "tmp", "usr", "var", "workspaces"],
  });
  expect(await read(client, "/etc")).toMatchObject({ files: ["group", "passwd"], directories: ["docs", "man"] });
  expect(await read(client, "/proc")).toMatchObject({ files: ["uptime", "version"], directories: ["init:1000", "self"] });
});

verifies("fs.read:image", async ({ alice }) => {
  const client = await alice();
  // Detected by content, not by name: this much of a GIF can be written as text.
  await write(client, "picture.txt", "GIF89a!");
  expect(await read(client, "picture.txt")).toEqual({
    ok: true,
    path: "/home/alice/picture.txt",
    size: 7,
    content: [
      { type: "text", text: "/home/alice/picture.txt (image/gif, 7 bytes)" },
      { type: "image", data: btoa("GIF89a!"), mimeType: "image/gif" },
    ],
  });
  await write(client, "not-a-picture.png", "hello");
  expect(await read(client, "not-a-picture.png")).toMatchObject({ content: "     1\thello" });
});

verifies("fs.read:image-cap", async ({ alice, raw }) => {
  const { token } = await (await alice()).call("sys.token.create", { kind: "user" });
  // A client would time out on a slow machine while the gateway handles such frames.
  const socket = await raw();
  await socket.connect({ username: "alice", token: token.token });
  const asked = async (call: string, args: Record<string, unknown>) => {
    socket.sendFrame({ type: "req", id: "huge", call, args });
    return (await socket.frame(150_000)).data;
  };
  const [path, cap] = ["huge.gif", 25 * 1024 * 1024];
  await asked("fs.write", { path, content: `GIF89a!${"x".repeat(cap - 6)}` });
  expect(await asked("fs.read", { path })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^Image too large \(25.0 MB, at most 25.0 MB\)/) as unknown,
  });
  await asked("fs.write", { path, content: `GIF89a!${"x".repeat(cap - 7)}` });
  expect(await asked("fs.read", { path })).toMatchObject({ ok: true, size: cap, content: [{ type: "text" }, { type: "image" }] });
  expect(await asked("fs.delete", { path })).toMatchObject({ ok: true });
});

verifies("fs.read:pages", async ({ alice }) => {
  const client = await alice();
  await write(client, "paged", "1\n2\n3\n4\n");
  const page = (offset: number, limit: number) => client.call("fs.read", { path: "paged", offset, limit });
  expect(await page(0, 2)).toMatchObject({ lines: 2, more: true });
  expect(await page(1, 2)).toMatchObject({ lines: 2, more: true });
  expect(await page(0, 0)).toMatchObject({ lines: 0, content: "", more: true });
  for (const [offset, limit] of [
    [2, 2],
    [3, 9],
    [0, 4],
  ] as const)
    expect(await page(offset, limit)).not.toHaveProperty("more");
  expect(await page(4, 1)).toMatchObject({ ok: false });
});

verifies("fs.read:binary", async ({ alice }) => {
  const client = await alice();
  await write(client, "nul", "a\u0000b");
  expect(await read(client, "nul")).toMatchObject({ ok: false, error: expect.stringMatching(/^Binary file/) as unknown });
});

verifies("fs.read:missing", async ({ alice }) => {
  const client = await alice();
  expect(await read(client, "no/such/thing")).toEqual({
    ok: false,
    error: "Not found: /home/alice/no/such/thing. The nearest directory that exists is /home/alice",
  });
});

verifies("fs.read:large", async ({ host, alice }) => {
  const client = await alice();
  const line = `${"x".repeat(99)}\n`;
  const content = line.repeat(40_000);
  expect(await write(client, "large.txt", content)).toMatchObject({ ok: true, size: 4_000_000 });
  await host.restart();
  const again = await alice();
  expect(await again.call("fs.read", { path: "large.txt", offset: 39_999 })).toMatchObject({
    lines: 1,
    size: 4_000_000,
    content: ` 40000\t${"x".repeat(99)}`,
  });
  await again.call("fs.delete", { path: "large.txt" });
});

verifies("fs.read:home-closed", async ({ alice, bob, root }) => {
  const client = await alice();
  await write(client, "secret", "mine");
  const other = await bob();
  const denied = { ok: false, error: "Permission denied: /home/alice/secret" };
  expect(await read(other, "/home/alice/secret")).toEqual(denied);
  expect(await read(other, "/home/alice/nothing")).toEqual({ ok: false, error: "Permission denied: /home/alice/nothing" });
  expect(await read(other, "/home/alice")).toEqual({ ok: false, error: "Permission denied: /home/alice" });
  expect(await write(other, "/home/alice/secret", "theirs")).toEqual(denied);
  expect(await other.call("fs.delete", { path: "/home/alice/secret" })).toEqual(denied);
  expect(await other.call("fs.search", { query: "mine", path: "/home" })).toMatchObject({ ok: true, matches: [] });
  expect(await read(await root(), "/home/alice/secret")).toMatchObject({ ok: true });
  expect(await read(client, "secret")).toMatchObject({ content: "     1\tmine" });
});

verifies("fs.read:etc", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const text = async (reader: Client, path: string) => ((await read(reader, path)) as { content: string }).content;
  expect(await text(client, "/etc/passwd")).toContain("alice:x:1000:1000:alice:/home/alice:/bin/init");
  expect(await text(client, "/etc/group")).toMatch(/\tusers:x:100:(?=.*\balice\b)(?=.*\bbob\b)/m);
  expect(await read(client, "/etc/shadow")).toEqual({ ok: false, error: "Permission denied: /etc/shadow" });
  expect(await text(admin, "/etc/shadow")).toMatch(/alice:\$scrypt\$ln=15,r=8,p=1\$/);
  expect(await write(client, "/etc/passwd", "")).toMatchObject({ ok: false });
});

verifies("fs.read:sys", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  expect(await read(client, "/sys")).toMatchObject({ directories: ["capabilities", "config", "devices", "users"] });
  expect(await read(client, "/sys/config/server/name")).toMatchObject({ content: "     1\tgsv" });
  const settings = ["context_window_tokens", "max_context_bytes", "max_tokens", "model", "provider", "reasoning"];
  expect(await read(client, "/sys/config/ai")).toMatchObject({ files: settings, directories: ["context.d", "profile"] });
  expect(await read(admin, "/sys/config/ai")).toMatchObject({ files: ["api_key", ...settings] });
  await client.call("sys.config.set", { key: "users/1000/ai/model", value: "mine" });
  expect(await read(client, "/sys/users/1000/ai/model")).toMatchObject({ content: "     1\tmine" });
  expect(await read(other, "/sys/users/1000/ai/model")).toMatchObject({ ok: false, error: expect.stringMatching(/^Not found/) as unknown });
  expect(await read(client, "/sys/capabilities/0")).toMatchObject({ content: "     1\t*" });
  expect(await read(client, "/sys/config/constructor")).toMatchObject({ ok: false });
});

verifies("fs.read:devices", async ({ alice, bob, root, raw }) => {
  const client = await alice();
  const { token } = await client.call("sys.token.create", { kind: "node", allowedDeviceId: "shown" });
  const driver = await raw();
  const connected = await driver.call("sys.connect", {
    protocol: 1,
    client: { id: "shown", version: "1", platform: "linux", role: "driver" },
    driver: { implements: ["fs.*", "shell.exec"] },
    auth: { username: "alice", token: token.token },
  });
  expect(connected.ok, JSON.stringify(connected)).toBe(true);
  const directory = { files: ["description", "implements", "owner", "platform", "status", "version"] };
  for (const reader of [client, await root()]) {
    expect(await read(reader, "/sys/devices")).toMatchObject({ directories: expect.arrayContaining(["shown"]) as unknown });
    expect(await read(reader, "/sys/devices/shown")).toMatchObject(directory);
    expect(await read(reader, "/sys/devices/shown/implements")).toMatchObject({ content: "     1\tfs.*\n     2\tshell.exec" });
    expect(await read(reader, "/sys/devices/shown/status")).toMatchObject({ content: "     1\tonline" });
  }
  expect(await read(await bob(), "/sys/devices/shown/status")).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^Not found/) as unknown,
  });
});

verifies("fs.read:self", async ({ alice, bob }) => {
  const client = await alice();
  const lines = async (reader: Client, path: string) =>
    ((await read(reader, path)) as { content: string }).content.split("\n").map((line) => line.slice(line.indexOf("\t") + 1));
  expect(JSON.parse((await lines(client, "/proc/self/identity")).join("\n"))).toEqual({
    uid: 1000,
    gid: 1000,
    gids: [100, 1000],
    username: "alice",
    profile: "none",
    home: "/home/alice",
    cwd: "/home/alice",
    workspaceId: null,
  });
  const status = await lines(client, "/proc/self/status");
  expect(status.map((line) => line.split("\t")[0])).toEqual(["Name:", "Pid:", "PPid:", "Profile:", "State:", "Uid:", "Gid:", "Groups:"]);
  expect(status).toContain("Uid:\t1000");
  expect(await lines(await bob(), "/proc/self/status")).toContain("Uid:\t1001");
  expect(await write(client, "/proc/self/status", "x")).toMatchObject({ ok: false });
});

verifies("fs.read:manuals", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  expect(await read(client, "/etc/docs")).toMatchObject({
    files: expect.arrayContaining(["errors.md", "operating.md", "protocol.md"]) as unknown,
  });
  expect(await read(client, "/etc/docs/operating.md")).toMatchObject({ content: expect.stringMatching(/^ {5}1\t# /) as unknown });
  expect(await read(client, "/etc/man/fs.read.md")).toMatchObject({ content: expect.stringContaining("## fs.read") as unknown });
  const { files } = (await read(client, "/etc/man")) as { files: string[] };
  expect(files.length).toBeGreaterThan(20);
  expect(await client.call("fs.search", { query: "numbered lines", path: "/etc/man" })).toMatchObject({ count: 1 });
  expect(await write(admin, "/etc/man/fs.read.md", "x")).toMatchObject({ ok: false });
  expect(await read(client, "/etc/man/constructor")).toMatchObject({ ok: false });
});

verifies("fs.read:usr", async ({ alice, root }) => {
  const client = await alice();
  expect(await read(client, "/usr/local/bin")).toMatchObject({ ok: true, directories: [] });
  expect(await write(await root(), "/usr/local/bin/mine", "x")).toEqual({ ok: false, error: "Not permitted: /usr/local/bin/mine" });
});

verifies("fs.read:dev", async ({ alice }) => {
  const client = await alice();
  expect(await read(client, "/dev/null")).toMatchObject({ ok: true, content: "" });
  expect(await write(client, "/dev/null", "gone")).toMatchObject({ ok: true });
  expect(await write(client, "/dev/zero", "no")).toEqual({ ok: false, error: "Not permitted: /dev/zero" });
  expect(await read(client, "/dev")).toMatchObject({ files: ["null", "random", "urandom", "zero"] });
});

verifies("fs.read:paths", async ({ alice }) => {
  const client = await alice();
  await write(client, "~/p/q.txt", "here");
  for (const path of [
    "p/q.txt",
    "~/p/q.txt",
    "./p//q.txt",
    "p/../p/q.txt",
    "/home/alice/p/./q.txt",
    "/../../home/alice/p/q.txt",
    "~/../alice/p/q.txt",
  ]) {
    expect(await read(client, path), path).toMatchObject({ ok: true, path: "/home/alice/p/q.txt" });
  }
  expect(await read(client, "a\u0000b")).toMatchObject({ ok: false });
  expect(await read(client, "x".repeat(300))).toMatchObject({ ok: false, error: expect.stringMatching(/^Path too long/) as unknown });
});

verifies("fs.read:target", async ({ alice, root }) => {
  const client = await alice();
  await write(client, "here", "x");
  expect(await client.call("fs.read", { target: "gsv", path: "here" })).toMatchObject({ ok: true });
  await expectRefusal(client.call("fs.read", { target: "nowhere", path: "here" }), 403, "Access denied to device: nowhere");
  await expectRefusal((await root()).call("fs.read", { target: "nowhere", path: "here" }), 503, "Device offline: nowhere");
});

verifies("fs.write:creates", async ({ host, alice }) => {
  const client = await alice();
  const path = `${name("deep")}/a/b/c.txt`;
  expect(await write(client, path, "kept é")).toEqual({ ok: true, path: `/home/alice/${path}`, size: 7 });
  await host.restart();
  expect(await read(await alice(), path)).toMatchObject({ content: "     1\tkept é" });
});

verifies("fs.write:replaces", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const file = `/tmp/${name("replaced")}`;
  await write(client, file, "a long first content\n");
  expect(await write(admin, file, "short")).toEqual({ ok: true, path: file, size: 5 });
  expect(await read(client, file)).toMatchObject({ content: "     1\tshort", size: 5 });
  expect(await write(client, file, "")).toMatchObject({ ok: true, size: 0 });
  expect(await read(client, file)).toMatchObject({ content: "", lines: 0, size: 0 });
  await client.call("fs.delete", { path: file });
});

verifies("fs.write:modes", async ({ alice, bob, root }) => {
  const [client, other, admin] = [await alice(), await bob(), await root()];
  const shared = `/tmp/${name("shared")}`;
  expect(await write(client, shared, "alice's")).toMatchObject({ ok: true });
  expect(await read(other, shared)).toMatchObject({ ok: true });
  expect(await write(other, shared, "bob's")).toEqual({ ok: false, error: `Permission denied: ${shared}` });
  expect(await other.call("fs.delete", { path: shared })).toEqual({ ok: false, error: `Not permitted: ${shared}` });
  expect(await write(client, "/top", "no")).toEqual({ ok: false, error: "Permission denied: /top" });
  expect(await write(client, "/etc/motd", "no")).toEqual({ ok: false, error: "Permission denied: /etc/motd" });
  expect(await write(admin, "/etc/motd", "hello")).toMatchObject({ ok: true });
  expect(await write(client, shared, "still alice's")).toMatchObject({ ok: true });
  await client.call("fs.delete", { path: shared });
});

verifies("fs.write:etc", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  const edit = (path: string, oldString: string, newString: string) => admin.call("fs.edit", { path, oldString, newString });
  const username = name("edited");
  const { user } = await admin.call("sys.user.create", { username, password: "long enough" });
  for (const path of ["/etc/passwd", "/etc/group", "/etc/shadow"])
    expect(await write(client, path, ""), path).toEqual({ ok: false, error: `Permission denied: ${path}` });
  // Changes that a call can make.
  expect(await edit("/etc/passwd", `:${username}:/home`, `:Edith:/home`)).toMatchObject({ ok: true });
  expect(await edit("/etc/group", "root:x:0:root\n", `root:x:0:root\n${username}s:x:321:${username}\n`)).toMatchObject({ ok: true });
  expect(await edit("/etc/shadow", `${username}:$`, `${username}:!$`)).toMatchObject({ ok: true });
  const { users } = await admin.call("sys.user.list", {});
  expect(users.find(({ uid }) => uid === user.uid)).toMatchObject({ gecos: "Edith", locked: true });
  expect((await admin.call("sys.group.list", {})).groups.find(({ gid }) => gid === 321)).toEqual({
    gid: 321,
    name: `${username}s`,
    members: [username],
  });
  expect(await edit("/etc/group", `${username}s:x:321:${username}\n`, "")).toMatchObject({ ok: true });
  // Changes that no call can make.
  const expectRefused = async (path: string, oldString: string, newString: string, why: string) =>
    expect(await edit(path, oldString, newString)).toMatchObject({ ok: false, error: expect.stringContaining(why) as unknown });
  await expectRefused("/etc/passwd", `${username}:x:${user.uid}`, `${username}:x:0`, "the uid of");
  await expectRefused("/etc/passwd", "root:x:0:0:", "new:x:2000:2000::/:\nroot:x:0:0:", "sys.user.create");
  await expectRefused("/etc/shadow", `${username}:!$`, `${username}:!$x$`, "sys.user.password");
  await expectRefused("/etc/group", "users:x:100:", "users:x:150:", "the gid of");
  await expectRefused("/etc/group", "users:x:100:", "no line\nusers:x:100:", "line 2");
  expect(await write(admin, "/etc/passwd", "")).toMatchObject({ ok: false, error: expect.stringContaining("sys.user.lock") as unknown });
  expect((await admin.call("sys.group.list", {})).groups.some(({ gid }) => gid === 321)).toBe(false);
});

verifies("fs.write:sys", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  expect(await write(client, "/sys/config/server/name", "mine")).toEqual({
    ok: false,
    error: "Permission denied: /sys/config/server/name",
  });
  expect(await write(client, "/sys/users/1000/ai/provider", "openai\n")).toMatchObject({ ok: true });
  expect((await client.call("sys.config.get", { key: "users/1000/ai/provider" })).entries[0]?.value).toBe("openai");
  expect(await write(client, "/sys/users/1000/pkg/x", "no")).toMatchObject({ ok: false });
  expect(await write(admin, "/sys/config/test/by-file", "yes\n")).toMatchObject({ ok: true });
  expect((await admin.call("sys.config.get", { key: "config/test/by-file" })).entries[0]?.value).toBe("yes");
  expect(await write(admin, "/sys/capabilities/0", "x")).toMatchObject({ ok: false });
});

verifies("fs.edit:exact", async ({ alice }) => {
  const client = await alice();
  const file = name("edit");
  await write(client, file, "a b a");
  expect(await client.call("fs.edit", { path: file, oldString: "b", newString: "$&" })).toEqual({
    ok: true,
    path: `/home/alice/${file}`,
    replacements: 1,
  });
  expect(await client.call("fs.edit", { path: file, oldString: "a", newString: "c", replaceAll: true })).toMatchObject({ replacements: 2 });
  expect(await read(client, file)).toMatchObject({ content: "     1\tc $& c" });
});

verifies("fs.edit:refuses", async ({ alice }) => {
  const client = await alice();
  const file = name("edit");
  await write(client, file, "a\na\n");
  const error = async (oldString: string, path = file) =>
    ((await client.call("fs.edit", { path, oldString, newString: "x" })) as { error: string }).error;
  expect(await error("zzz")).toMatch(`oldString not found in /home/alice/${file}`);
  expect(await error("a")).toMatch("occurs 2 times");
  expect(await error("a", "nothing")).toBe("File not found: /home/alice/nothing");
});

verifies("fs.delete:recursive", async ({ alice }) => {
  const client = await alice();
  const folder = name("tree");
  for (const path of ["a", "b/c", "b/d/e"]) await write(client, `${folder}/${path}`, path);
  expect(await client.call("fs.delete", { path: folder })).toEqual({ ok: true, path: `/home/alice/${folder}` });
  expect(await read(client, `${folder}/b/d/e`)).toMatchObject({ ok: false });
  expect(await client.call("fs.delete", { path: folder })).toMatchObject({
    ok: false,
    error: expect.stringMatching(/^Not found/) as unknown,
  });
});

verifies("fs.delete:refuses", async ({ alice, root }) => {
  const [client, admin] = [await alice(), await root()];
  for (const path of ["/", "/home", "/home/alice", "/etc", "/sys", "/proc", "/etc/passwd", "/dev/null"]) {
    expect(await admin.call("fs.delete", { path }), path).toMatchObject({ ok: false });
  }
  expect(await client.call("fs.delete", { path: "/etc/passwd" })).toMatchObject({ ok: false });
  expect(await read(client, "~")).toMatchObject({ ok: true });
});

verifies("fs.search:cwd", async ({ alice }) => {
  const client = await alice();
  const [file, word] = [name("cwd"), name("unlikely-word")];
  await write(client, file, `here is ${word}`);
  const matches = [{ path: `/home/alice/${file}`, line: 1, content: `here is ${word}` }];
  expect(await client.call("fs.search", { query: word })).toEqual({ ok: true, count: 1, matches });
  expect(await client.call("fs.search", { query: word, path: file })).toEqual({ ok: true, count: 1, matches });
});

verifies("fs.search:literal", async ({ alice }) => {
  const client = await alice();
  const folder = name("search");
  await write(client, `${folder}/b.ts`, "let a.b = 1\nlet axb\n");
  await write(client, `${folder}/a.md`, "A.B\na.b\n");
  expect(await client.call("fs.search", { query: " a.b ", path: folder })).toEqual({
    ok: true,
    count: 2,
    matches: [
      { path: `/home/alice/${folder}/a.md`, line: 2, content: "a.b" },
      { path: `/home/alice/${folder}/b.ts`, line: 1, content: "let a.b = 1" },
    ],
  });
  expect(await client.call("fs.search", { query: "a.b", path: folder, include: "*.ts" })).toMatchObject({ count: 1 });
  await write(client, `${folder}/many`, "needle\n".repeat(600));
  expect(await client.call("fs.search", { query: "needle", path: folder })).toMatchObject({ count: 500, truncated: true });
  expect(await client.call("fs.search", { query: " " })).toEqual({ ok: false, error: "Search query is required." });
});
