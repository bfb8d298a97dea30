// Where a daemon keeps its state, for any device name.

import { expect, it } from "vitest";
import { stateFolder } from "./state.ts";

it("is one folder per device below GSV_HOME, for any name", () => {
  const env = { GSV_HOME: "/data" };
  expect(stateFolder("laptop", env)).toBe("/data/device/laptop");
  const names = ["laptop", "Laptop", "..", ".", "a/b", "a\\b", "a%2Fb", "ü".repeat(256), `${"ü".repeat(255)}x`];
  const folders = names.map((name) => stateFolder(name, env));
  expect(new Set(folders).size).toBe(names.length);
  for (const folder of folders) expect(folder).toMatch(/^\/data\/device\/[\w%-]{1,100}$/);
});
