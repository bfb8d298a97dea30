import { expect, test } from "vitest";
import { parseScriptReport, scriptPurpose } from "./script-text.ts";

test("the purpose of a script is its first comment, or its first line of code", () => {
  expect(scriptPurpose("\n// Count the lines\nconst n = 1;")).toBe("Count the lines");
  expect(scriptPurpose("/**\n * Count the lines.\n */\nreturn 1;")).toBe("Count the lines.");
  expect(scriptPurpose("/* Count */ return 1;")).toBe("Count */ return 1;");
  expect(scriptPurpose('"use strict";\n\n  const { content } = await fs.read({ path: "a" });\n')).toBe(
    'const { content } = await fs.read({ path: "a" });',
  );
  expect(scriptPurpose("// ----\n{\n")).toBe("");
});

test("what a script reports is read from the output of its call", () => {
  expect(parseScriptReport('{"status":"completed","result":{"n":1},"logs":["a","[warn] b"]}')).toEqual({
    status: "completed",
    result: { n: 1 },
    logs: ["a", "[warn] b"],
  });
  expect(parseScriptReport('{"status":"completed"}')).toEqual({ status: "completed", result: undefined, logs: [] });
  expect(parseScriptReport('{"status":"failed","error":"Error: no","stack":"at 1"}')).toEqual({
    status: "failed",
    error: "Error: no",
    stack: "at 1",
    logs: [],
  });
});

test("an output that is no report is none", () => {
  const cut = '{"status":"completed","result":"aaa\n[... 9 of 99 characters left out; ask for less at once ...]\naaa"}';
  for (const output of ["", "Error: Permission denied", cut, "{}", "[1]", '{"status":"failed"}', "{"])
    expect(parseScriptReport(output)).toBeNull();
});
