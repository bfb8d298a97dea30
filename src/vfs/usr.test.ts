// /usr/bin: shows the commands that the shell has.

import { expect, it } from "vitest";
import { FileError } from "../hardware/filesystem.ts";
import { shellCommands } from "../shell/commands.table.ts";
import { ALICE } from "../../test/support/alice.ts";
import { usrMount } from "./usr.ts";

it("lists every command of the shell, and its file holds the summary", async () => {
  const listed = await usrMount.list(ALICE, "/usr/bin");
  expect(listed.map(({ name }) => name).toSorted()).toEqual(shellCommands.map(({ name }) => name).toSorted());
  const text = new TextDecoder().decode(await usrMount.read(ALICE, "/usr/bin/chmod"));
  expect(text).toBe("#!/bin/init\n# chmod: Change the permissions of files.\n# A shell command: see man chmod.\n");
});

it.each(["nothing", "constructor"])("has no file for %s, which is not a command", async (name) => {
  await expect(usrMount.read(ALICE, `/usr/bin/${name}`)).rejects.toThrow(FileError);
});
