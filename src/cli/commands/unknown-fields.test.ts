// Which fields of a call's arguments are named as unknown, by the schemas the gateway goes by.

import { expect, test } from "vitest";
import { reference } from "../../generated/reference.ts";
import { unknownFields } from "./unknown-fields.ts";

const unknown = (call: string, args: unknown) => unknownFields(reference.find(({ name }) => name === call)!.args, args);

test("examples of all calls have no unknown field", () => {
  for (const { name, example } of reference) expect(unknown(name, example.args), name).toEqual([]);
});

test("a field nobody knows is named with its path, and with the one that was meant", () => {
  expect(unknown("sys.token.create", { kind: "node", expiresat: 1, allowedDeviceId: "x" })).toEqual([
    { field: "expiresat", meant: "expiresAt" },
  ]);
  expect(unknown("sys.info", { anything: 1 })).toEqual([{ field: "anything", meant: null }]);
  expect(unknown("fs.read", { target: "gsv", path: "/", recursively: true })).toEqual([{ field: "recursively", meant: null }]);
  expect(unknown("fs.copy", { from: { target: "gsv", pth: "/a" }, to: { path: "/b" } })).toEqual([{ field: "from.pth", meant: "path" }]);
  expect(unknown("repo.apply", { repo: "a/b", ops: [{ type: "put", path: "a", contents: "b" }] })).toEqual([
    { field: "ops.0.contents", meant: "content" },
  ]);
});

test("where any field may stand, none is unknown", () => {
  expect(unknown("proc.approval.preview", { call: "fs.read", args: { whatever: { goes: 1 } } })).toEqual([]);
  expect(unknown("sys.info", null)).toEqual([]);
});
