// Stock git for tests: the git program in a clean environment, and git's own HTTP server.

import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const HTTP_BACKEND = "/usr/lib/git-core/git-http-backend";

export type Ran = { code: number; out: string; err: string };
const run = promisify(execFile);

export function scratch(): string {
  return mkdtempSync(join(tmpdir(), "gsv-git-"));
}

export async function git(cwd: string, ...args: string[]): Promise<Ran> {
  const env = {
    PATH: process.env.PATH!,
    HOME: cwd,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "kim",
    GIT_AUTHOR_EMAIL: "kim@example.org",
    GIT_AUTHOR_DATE: "1700000001 +0100",
    GIT_COMMITTER_NAME: "kim",
    GIT_COMMITTER_EMAIL: "kim@example.org",
    GIT_COMMITTER_DATE: "1700000001 +0100",
  };
  try {
    const options = { cwd, env, maxBuffer: 1 << 26, timeout: 60_000 };
    const { stdout, stderr } = await run("git", ["-c", "init.defaultBranch=main", "-c", "gc.auto=0", ...args], options);
    return { code: 0, out: stdout.trim(), err: stderr.trim() };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout.trim(), err: stderr.trim() };
  }
}

/** What git printed. Throws if git fails. */
export async function ok(cwd: string, ...args: string[]): Promise<string> {
  const ran = await git(cwd, ...args);
  if (ran.code !== 0) throw new Error(`git ${args.join(" ")}: ${ran.err}`);
  return ran.out;
}

export async function commit(dir: string, files: Record<string, string | Uint8Array>, message = "commit"): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  await ok(dir, "add", "-A");
  await ok(dir, "commit", "-q", "--allow-empty", "-m", message);
  return ok(dir, "rev-parse", "HEAD");
}

/** A URL with credentials in it, as git takes them. */
export function withLogin(url: string, username: string, secret: string): string {
  return url.replace("://", `://${encodeURIComponent(username)}:${encodeURIComponent(secret)}@`);
}

/** git http-backend over the bare repositories of a folder, as CGI, without authentication. */
export async function stockServer(root: string): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    stock(root, "", request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Answers one request whose path starts with `prefix`. */
export async function stock(root: string, prefix: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, "http://stock");
  const child = spawn(HTTP_BACKEND, {
    env: {
      PATH: process.env.PATH!,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "sam",
      REQUEST_METHOD: request.method!,
      PATH_INFO: url.pathname.slice(prefix.length),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
    },
  });
  request.pipe(child.stdin);
  const parts: Buffer[] = [];
  for await (const part of child.stdout) parts.push(part as Buffer);
  const all = Buffer.concat(parts);
  const end = all.indexOf("\r\n\r\n");
  const headers = all
    .subarray(0, end)
    .toString()
    .split("\r\n")
    .map((line) => line.split(": ") as [string, string]);
  const status = headers.find(([name]) => name === "Status");
  response.writeHead(status === undefined ? 200 : Number.parseInt(status[1], 10), headers.filter(([name]) => name !== "Status").flat());
  response.end(all.subarray(end + 4));
}
