// Nobody's dotfiles reach a test: whatever it starts, a login shell included, finds a home with nothing in it. This is
// vitest's global setup, so it holds for a single file as well; tools/test.ts does the same for all that it runs.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where programs look for what belongs to a person, besides HOME. */
const ELSEWHERE = [
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
  const kept = Object.entries(env).filter(([name]) => !ELSEWHERE.includes(name) && !name.startsWith("GSV_"));
  return { ...Object.fromEntries(kept), HOME: home };
}

export default function setup(): () => void {
  const home = makeEmptyHome();
  const env = withEmptyHome(home, process.env);
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  process.env.HOME = home;
  return () => rmSync(home, { recursive: true, force: true });
}
