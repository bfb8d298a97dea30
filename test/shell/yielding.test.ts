// Loops that yield to the event loop, as on Cloudflare, do not change the result of a script.

import { Bash, InMemoryFs } from "just-bash/browser";
import { expect, test } from "vitest";
import { makeYieldCommand, yieldPlugin } from "../../src/shell/yielding.ts";
import { snippets } from "./corpus.ts";

async function run(script: string, files: Readonly<Record<string, string>>, doesYield: boolean) {
  const fs = new InMemoryFs(Object.fromEntries([["/w/.keep", ""], ...Object.entries(files).map(([path, text]) => [`/w/${path}`, text])]));
  const bash = new Bash({ fs, cwd: "/w", defenseInDepth: false, customCommands: doesYield ? [makeYieldCommand()] : [] });
  if (doesYield) bash.registerTransformPlugin(yieldPlugin);
  const env = { HOME: "/w", PATH: "/usr/bin:/bin", PWD: "/w" };
  const { stdout, exitCode } = await bash.exec(script, { env, replaceEnv: true, cwd: "/w", rawScript: true });
  return { stdout, exitCode };
}

const loops = snippets().filter(({ script }) => /\b(?:for|while|until)\b/.test(script));

test.each(loops)("a loop that yields prints the same: $name", async ({ script, files }) => {
  expect(await run(script, files, true)).toEqual(await run(script, files, false));
});
