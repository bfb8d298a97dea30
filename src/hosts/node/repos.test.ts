// Repositories in threads: calls, streams with back-pressure, exits and restarts.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryLog } from "../../../test/support/memory-ports.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { RepoResult } from "../../repo/calls.ts";
import { NodeRepos } from "./repos.ts";

const author = { name: "sam", email: "sam@gsv.local" };
const now = 1_700_000_000_000;
let folder: string;
let repos: NodeRepos;
let fatal: unknown[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-repos-"));
  fatal = [];
  repos = open();
});

afterEach(async () => {
  await repos.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(limits: { idleMs?: number; heapMb?: number } = {}): NodeRepos {
  return new NodeRepos({
    folder: join(folder, "repos"),
    log: memoryLog(),
    onFatalError: (error) => fatal.push(error),
    ...limits,
  });
}

function apply(address: string, path: string, content: string, more: object = {}) {
  const args = { message: `write ${path}`, ops: [{ type: "put", path, content }], author, now, ...more };
  return repos.call(address, "apply", args) as Promise<RepoResult<"apply">>;
}

test("keeps each repository in its own file, across threads and restarts", async () => {
  const slugs = ["repo:sam/a", "repo:sam/A", "repo:sam/..", "repo:sam/.a", `repo:sam/${"x".repeat(100)}`];
  for (const slug of slugs) await apply(slug, "name", slug);
  expect(readdirSync(join(folder, "repos")).filter((name) => name.endsWith(".db"))).toHaveLength(slugs.length);
  await repos.close();
  repos = open();
  for (const slug of slugs) expect(await repos.call(slug, "read", { path: "name" })).toMatchObject({ content: slug });
});

test("refusals keep their code, message and details", async () => {
  await apply("repo:sam/a", "x", "1");
  const refused = apply("repo:sam/a", "x", "2", { expectedHead: "0".repeat(40) });
  await expect(refused).rejects.toThrow(SysError);
  await expect(refused).rejects.toMatchObject({
    code: 409,
    message: expect.stringContaining("expected head 0000"),
    details: { expectedHead: "0".repeat(40) },
  });
});

test("runs a write with a key once", async () => {
  const first = await apply("repo:sam/a", "x", "1", { key: "7/k" });
  expect(await apply("repo:sam/a", "x", "1", { key: "7/k" })).toEqual(first);
  await apply("repo:sam/a", "x", "2");
  expect(await apply("repo:sam/a", "x", "1", { key: "7/k" })).toEqual(first);
  await expect(apply("repo:sam/a", "x", "3", { key: "7/k" })).rejects.toMatchObject({ code: 409 });
  expect(await apply("repo:sam/a", "x", "3", { key: "8/k" })).toMatchObject({ changed: true });
});

test("serves more repositories than it keeps files open", async () => {
  const all = Array.from({ length: 80 }, (_, at) => `repo:sam/${at}`);
  await Promise.all(all.map((slug) => apply(slug, "name", slug)));
  const found = await Promise.all(all.map((slug) => repos.call(slug, "read", { path: "name" })));
  expect(found).toMatchObject(all.map((content) => ({ content })));
});

test("idle threads exit and start again on demand", async () => {
  await repos.close();
  repos = open({ idleMs: 30 });
  await apply("repo:sam/a", "x", "1");
  // An open database has a WAL file beside it, which disappears with the thread.
  await expect.poll(() => readdirSync(join(folder, "repos")).filter((name) => name.endsWith("-wal"))).toEqual([]);
  expect(await repos.call("repo:sam/a", "read", { path: "x" })).toMatchObject({ content: "1" });
});

test("a thread that dies fails only its own calls, and is restarted", async () => {
  await repos.close();
  repos = open({ heapMb: 24 });
  await apply("repo:sam/a", "x", "1");
  // Text that needs a multiple of its size while it is processed.
  const ops = Array.from({ length: 400 }, (_, at) => ({
    type: "put",
    path: `f${at}`,
    contentBase64: `${at}`.padStart(4, "A").repeat(50_000),
  }));
  const heavy = repos.call("repo:sam/a", "apply", { message: "heavy", ops, author, now, key: "7/heavy" });
  await expect(heavy).rejects.toMatchObject({ code: 503 });
  expect(await repos.call("repo:sam/a", "log", {})).toMatchObject({ entries: [{ message: "write x" }] });
  expect(await apply("repo:sam/a", "x", "2")).toMatchObject({ changed: true });
  expect(fatal).toEqual([]);
});

test("an answer that nobody reads waits, and cancelling ends it", async () => {
  const bytes = Buffer.alloc(4 << 20, "x");
  for (let at = 0; at < 4; at++) for (let i = 0; i < bytes.length; i += 7) bytes[i] = (i * (at + 3) * 7919) % 251;
  await repos.call("repo:sam/a", "apply", { message: "big", ops: [{ type: "put", path: "big", bytes }], author, now });
  const { head } = (await repos.call("repo:sam/a", "state", {})) as RepoResult<"state">;
  const access = { read: true, write: true, actor: "sam" };
  const ask = () => {
    const lines = `0032want ${head}\n00000009done\n`;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(lines));
        controller.close();
      },
    });
    const headers = { "content-type": "application/x-git-upload-pack-request" };
    return repos.fetch("repo:sam/a", { method: "POST", path: "/git-upload-pack", query: "", headers, body, access });
  };
  const whole = new Uint8Array(await new Response((await ask()).body).arrayBuffer());
  expect(new TextDecoder().decode(whole.subarray(8, 12))).toBe("PACK");
  const cancelled = await ask();
  const reader = cancelled.body.getReader();
  await reader.read();
  await reader.cancel();
  expect(await repos.call("repo:sam/a", "read", { path: "" })).toMatchObject({ kind: "tree" });
});

test("an interrupted push leaves nothing behind and is no incident", async () => {
  await apply("repo:sam/a", "x", "1");
  const before = await repos.call("repo:sam/a", "refs", {});
  const line = `${"0".repeat(40)} ${"1".repeat(40)} refs/heads/new\0report-status\n`;
  const lines = `${(line.length + 4).toString(16).padStart(4, "0")}${line}0000PACK`;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (controller.desiredSize === 1) controller.enqueue(new TextEncoder().encode(lines));
      controller.error(new Error("aborted"));
    },
  });
  const headers = { "content-type": "application/x-git-receive-pack-request" };
  const access = { read: true, write: true, actor: "sam" };
  const answer = await repos.fetch("repo:sam/a", { method: "POST", path: "/git-receive-pack", query: "", headers, body, access });
  expect(await new Response(answer.body).text()).toMatch(/was interrupted/);
  expect(answer.changed).toBeNull();
  expect(await repos.call("repo:sam/a", "refs", {})).toEqual(before);
});

test("requests to a remote go through the http function passed with the call", async () => {
  const urls: string[] = [];
  const http = async (url: string) => {
    urls.push(url);
    throw new SysError(403, "not there");
  };
  await expect(repos.call("repo:sam/a", "import", { remoteUrl: "https://example.org/x.git" }, http)).rejects.toMatchObject({
    code: 403,
    message: "not there",
  });
  expect(urls).toEqual(["https://example.org/x.git/info/refs?service=git-upload-pack"]);
});

test("a corrupt database file breaks only its own repository", async () => {
  await apply("repo:sam/a", "x", "1");
  await apply("repo:sam/b", "x", "1");
  await repos.close();
  const file = readdirSync(join(folder, "repos")).find((name) => name.startsWith("sam_a"))!;
  writeFileSync(join(folder, "repos", file), "this is not what it was".repeat(1000));
  repos = open();
  await expect(apply("repo:sam/a", "x", "2")).rejects.toThrow("not a database");
  expect(await apply("repo:sam/b", "x", "2")).toMatchObject({ changed: true });
  expect(fatal).toEqual([]);
});
