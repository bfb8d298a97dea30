// What a build loads at once, and what only on first use.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { BUILD } from "../support/current-build.ts";

/** esbuild writes the path of each source file above its code. */
const INTERPRETER = /^\/\/ node_modules\/just-bash\//m;

test("the gateway starts without the shell's interpreter, which takes megabytes and runs in threads of its own", () => {
  const chunks = readdirSync(join(BUILD, "chunks")).map((name) => join(BUILD, "chunks", name));
  const holders = chunks.filter((file) => INTERPRETER.test(readFileSync(file, "utf8"))).map((file) => basename(file));
  expect(holders).not.toEqual([]);
  const gateway = chunks.filter((file) => /^\/\/ src\/hosts\/node\/gateway\.ts$/m.test(readFileSync(file, "utf8")));
  expect(gateway).toHaveLength(1);
  const loaded = [...listStaticImports(gateway[0]!)].map((file) => basename(file));
  expect(loaded.length).toBeGreaterThan(5);
  expect(loaded.filter((name) => holders.includes(name))).toEqual([]);
});

/** The file and everything that it imports, directly or not; dynamic imports are left out. */
function listStaticImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|\} from) ?"(\.\.?\/[^"]+\.js)";$/gm))
    listStaticImports(join(file, "..", path!), found);
  return found;
}
