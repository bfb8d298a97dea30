// /sys: listing a directory uses only key names and loads no values.

import { expect, it } from "vitest";
import type { Who } from "./mount.ts";
import { makeSysMount } from "./sys.ts";

const WHO: Who = {
  uid: 1000,
  gid: 1000,
  gids: [1000],
  username: "alice",
  home: "/home/alice",
  cwd: "/home/alice",
  runSyscall: async () => ({}),
  checkStillAllowed: () => {},
};

it("lists keys without loading their values, and prefers a file to a directory of the same name", async () => {
  const keys = ["users/1000/ai/model", "users/1000/ai/model/temperature", "users/1000/ai/tools/shell"];
  const loaded: string[] = [];
  const mount = makeSysMount({
    configKeys: (_who, prefix) => keys.filter((key) => key.startsWith(`${prefix}/`)),
    configValue: (_who, key) => (keys.includes(key) ? (loaded.push(key), "x") : undefined),
    capabilities: () => [],
    devices: () => [],
  });
  expect(await mount.list(WHO, "/sys/users")).toEqual([{ name: "1000", kind: "directory" }]);
  expect(await mount.list(WHO, "/sys/users/1000/ai")).toEqual([
    { name: "model", kind: "file" },
    { name: "tools", kind: "directory" },
  ]);
  expect(loaded).toEqual([]);
  expect(new TextDecoder().decode(await mount.read(WHO, "/sys/users/1000/ai/model"))).toBe("x\n");
  expect(loaded).toEqual(["users/1000/ai/model"]);
  await expect(mount.stat(WHO, "/sys/users/1000/no")).rejects.toThrow("ENOENT");
});
