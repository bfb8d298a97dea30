// /sys: listing a directory uses only key names and loads no values.

import { expect, it } from "vitest";
import { ALICE } from "../../test/support/alice.ts";
import { makeSysMount } from "./sys.ts";

it("lists keys without loading their values, and prefers a file to a directory of the same name", async () => {
  const keys = ["users/1000/ai/model", "users/1000/ai/model/temperature", "users/1000/ai/tools/shell"];
  const loaded: string[] = [];
  const mount = makeSysMount({
    configKeys: (_who, prefix) => keys.filter((key) => key.startsWith(`${prefix}/`)),
    configValue: (_who, key) => (keys.includes(key) ? (loaded.push(key), "x") : undefined),
    capabilities: () => [],
    devices: () => [],
  });
  expect(await mount.list(ALICE, "/sys/users")).toEqual([{ name: "1000", kind: "directory" }]);
  expect(await mount.list(ALICE, "/sys/users/1000/ai")).toEqual([
    { name: "model", kind: "file" },
    { name: "tools", kind: "directory" },
  ]);
  expect(loaded).toEqual([]);
  expect(new TextDecoder().decode(await mount.read(ALICE, "/sys/users/1000/ai/model"))).toBe("x\n");
  expect(loaded).toEqual(["users/1000/ai/model"]);
  await expect(mount.stat(ALICE, "/sys/users/1000/no")).rejects.toThrow("ENOENT");
});
