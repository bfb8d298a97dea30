// Every requirement has a case, and every syscall has a requirement.

import { expect, test } from "vitest";
import { kernelCalls } from "../../src/kernel/calls/table.ts";
import "./cases/index.ts";
import { REQUIREMENTS } from "./requirements.ts";
import { verified } from "./verifies.ts";

test("every requirement is verified by exactly one case", () => {
  expect(verified().toSorted()).toEqual(REQUIREMENTS.map(({ id }) => id).toSorted());
});

test("every syscall has a requirement", () => {
  const covered = new Set(REQUIREMENTS.map(({ id }) => id.split(":")[0]));
  expect(kernelCalls.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
});
