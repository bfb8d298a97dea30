// A mutation whose text is gone from the source proves nothing. `npm run trust:prove` shows that each is caught.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MUTATIONS } from "./mutations.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.for(MUTATIONS.map((mutation) => [`${mutation.bar}: ${mutation.name}`, mutation] as const))(
  "%s matches its source once",
  ([, { file, find }]) => {
    expect(readFileSync(join(ROOT, file), "utf8").split(find).length - 1).toBe(1);
  },
);

test("every bar has a mutation", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: Record<string, string> };
  const bars = Object.keys(scripts).filter((name) => name.startsWith("trust:") && name !== "trust:prove");
  expect(bars.filter((name) => !MUTATIONS.some(({ bar }) => `trust:${bar}` === name))).toEqual([]);
});
