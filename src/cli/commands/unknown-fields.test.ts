// Which argument fields are reported as unknown, by the gateway's own schemas.

import { expect, test } from "vitest";
import { reference } from "../../generated/reference.ts";
import { findUnknownFields } from "./unknown-fields.ts";

const findUnknown = (call: string, args: unknown) => findUnknownFields(reference.find(({ name }) => name === call)!.args, args);

test("the examples of all calls have no unknown field", () => {
  for (const { name, example } of reference) expect(findUnknown(name, example.args), name).toEqual([]);
});

test("an unknown field is reported with its path and the most similar known field", () => {
  expect(findUnknown("sys.token.create", { kind: "node", expiresat: 1, allowedDeviceId: "x" })).toEqual([
    { field: "expiresat", meant: "expiresAt" },
  ]);
  expect(findUnknown("sys.info", { anything: 1 })).toEqual([{ field: "anything", meant: null }]);
  expect(findUnknown("fs.read", { target: "gsv", path: "/", recursively: true })).toEqual([{ field: "recursively", meant: null }]);
  expect(findUnknown("fs.copy", { from: { target: "gsv", pth: "/a" }, to: { path: "/b" } })).toEqual([
    { field: "from.pth", meant: "path" },
  ]);
  expect(findUnknown("repo.apply", { repo: "a/b", ops: [{ type: "put", path: "a", contents: "b" }] })).toEqual([
    { field: "ops.0.contents", meant: "content" },
  ]);
});

test("no field is unknown where the schema allows any", () => {
  expect(findUnknown("proc.approval.preview", { call: "fs.read", args: { whatever: { goes: 1 } } })).toEqual([]);
  expect(findUnknown("sys.info", null)).toEqual([]);
});
