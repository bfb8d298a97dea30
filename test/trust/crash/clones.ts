// Clones every repository of a gateway with stock git: all reachable objects are there and sound.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection } from "../../../src/client/client.ts";
import { git, withLogin } from "../../support/git.ts";
import type { Person } from "./lane.ts";
import type { Oracle } from "./oracle.ts";

/** Returns how many were cloned; 0 where git is not installed. */
export async function cloneAll(url: string, line: Connection, root: Person, oracle: Oracle): Promise<number> {
  if (!hasGit) return 0;
  const { repos } = await line.call("repo.list", {}, { timeoutMs: 30_000 });
  const folder = mkdtempSync(join(tmpdir(), "gsv-crash-clones-"));
  try {
    for (const [at, { repo }] of repos.entries()) {
      const from = withLogin(`${url}/git/${repo}`, root.username, root.token);
      const cloned = await git(folder, "clone", "-q", "--mirror", from, String(at));
      if (cloned.code !== 0) oracle.violate("damaged", `${repo}: git clone: ${cloned.err}`);
      const { code, out, err } = await git(join(folder, String(at)), "fsck", "--strict", "--full", "--no-progress");
      if (code !== 0 || out !== "") oracle.violate("half", `${repo}: git fsck: ${code} ${out} ${err}`);
    }
    return repos.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const hasGit = findGit();

function findGit(): boolean {
  try {
    execFileSync("git", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
