import { expect, test } from "vitest";
import { callsByName } from "../kernel/calls/table.ts";
import { TOOL_OF_SCRIPT_CALL } from "../sandbox/script-calls.ts";
import { describeTimeout } from "./script-timeout.ts";

test.each([...TOOL_OF_SCRIPT_CALL.keys()])("whether %s has run is unknown, unless it only reads", (call) => {
  const text = describeTimeout(call);
  expect(text).toContain(`Timed out waiting for ${call} after 55 s`);
  expect(text.includes("The outcome is unknown")).toBe(callsByName.get(call)!.does !== "read");
});
