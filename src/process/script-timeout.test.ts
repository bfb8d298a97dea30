import { expect, test } from "vitest";
import { describeTimeout } from "./script-timeout.ts";

test("a call that is given up may have run, unless it only reads", () => {
  expect(describeTimeout("fs.read")).toBe("Timed out waiting for fs.read after 55 s");
  expect(describeTimeout("sys.mcp.call")).toMatch(/^Timed out waiting for sys.mcp.call after 55 s. The outcome is unknown/);
});
