import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { engineName, QUICKJS_VERSION } from "./engine-name.ts";

test("names the installed version", () => {
  const file = new URL("package.json", new URL("./", import.meta.resolve("quickjs-wasi/quickjs.wasm")));
  const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
  expect(QUICKJS_VERSION).toBe(version);
});

test("a metered engine has a name of its own", () => {
  expect(engineName(false)).toContain(QUICKJS_VERSION);
  expect(engineName(true)).not.toBe(engineName(false));
});
