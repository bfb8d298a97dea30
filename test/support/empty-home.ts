// Keeps dotfiles out of tests: every program a test starts, login shells included, finds an empty home. This is vitest's global
// setup, so it applies to a single file too; tools/test.ts does the same for everything it runs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Variables besides HOME by which programs find a person's files. */
const PERSONAL_VARIABLES = [
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_CACHE_HOME",
  "BASH_ENV",
  "ENV",
  "ZDOTDIR",
  "GIT_CONFIG_GLOBAL",
];

export function makeEmptyHome(): string {
  return mkdtempSync(join(tmpdir(), "gsv-empty-home-"));
}

export function withEmptyHome(home: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !PERSONAL_VARIABLES.includes(name) && !name.startsWith("GSV_"));
  return { ...Object.fromEntries(kept), HOME: home };
}

export default function setup(): () => void {
  const home = makeEmptyHome();
  const env = withEmptyHome(home, process.env);
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  process.env.HOME = home;
  return () => rmSync(home, { recursive: true, force: true });
}
