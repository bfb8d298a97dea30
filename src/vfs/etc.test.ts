// Editing the account files: only what calls can do, all of it looked at before the first call, and the truth about what
// was done where one is refused.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import { accountEdits } from "./account-edits.ts";
import { etcMounts } from "./etc.ts";
import type { Who } from "./mount.ts";

const PASSWD = ["root:x:0:0:root:/root:/bin/init", "bob:x:1001:1001:bob:/home/bob:/bin/init"];
const GROUP = ["root:x:0:root", "users:x:100:bob", "family:x:200:bob", "club:x:201:"];
const SHADOW = ["bob:$scrypt$h:19000:0:99999:7:::", "root:!$scrypt$r:19000:0:99999:7:::"];
const LINES = { passwd: PASSWD, group: GROUP, shadow: SHADOW };

const calls = (file: keyof typeof LINES, wanted: readonly string[]) =>
  accountEdits(file, LINES[file], wanted.join("\n")).map(({ call, args }) => `${call} ${JSON.stringify(args)}`);
const why = (file: keyof typeof LINES, wanted: readonly string[]) => {
  try {
    return calls(file, wanted).join();
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
};
const without = (lines: readonly string[], at: number) => lines.filter((_, index) => index !== at);
const instead = (lines: readonly string[], at: number, line: string) => lines.with(at, line);

describe("an edited account file", () => {
  it("becomes the calls that make it true", () => {
    expect(calls("passwd", instead(PASSWD, 1, "bob:x:1001:1001:Bob:/home/bob:/bin/init"))).toEqual([
      'sys.user.update {"username":"bob","gecos":"Bob"}',
    ]);
    expect(calls("shadow", instead(SHADOW, 0, `bob:!${SHADOW[0]!.slice(4)}`))).toEqual(['sys.user.lock {"username":"bob","locked":true}']);
    expect(calls("shadow", instead(SHADOW, 1, SHADOW[1]!.replace("!", "")))).toEqual(['sys.user.lock {"username":"root","locked":false}']);
    expect(calls("group", [...without(GROUP, 3), "ops:x:300:bob,root", "empty:x:301:"])).toEqual([
      'sys.group.remove {"gid":201}',
      'sys.group.create {"name":"ops","gid":300}',
      'sys.group.members {"gid":300,"members":["bob","root"]}',
      'sys.group.create {"name":"empty","gid":301}',
    ]);
    expect(calls("group", instead(GROUP, 2, "family:x:200:"))).toEqual(['sys.group.members {"gid":200,"members":[]}']);
  });

  it("is no call at all where only the order or empty lines differ", () => {
    fc.assert(
      fc.property(fc.constantFrom("passwd", "group", "shadow"), fc.infiniteStream(fc.nat()), (file, order) => {
        const shuffled = LINES[file].toSorted(() => (order.next().value! % 2 === 0 ? 1 : -1));
        expect(calls(file, ["", ...shuffled, " ", ""])).toEqual([]);
      }),
    );
  });

  it("is refused whole, with its line and what to use, where no call can do it", () => {
    expect(why("passwd", PASSWD.slice(0, 1))).toBe("/etc/passwd: users are not removed: lock bob with sys.user.lock. Nothing was changed");
    expect(why("passwd", [...PASSWD, "eve:x:0:0::/root:/bin/init"])).toMatch(/line 3: make eve with sys.user.create/);
    for (const [at, name] of ["uid", "gid", "gecos", "home", "shell"].entries()) {
      if (name === "gecos") continue;
      const fields = PASSWD[1]!.split(":").with(at + 2, "0");
      expect(why("passwd", instead(PASSWD, 1, fields.join(":")))).toMatch(`/etc/passwd, line 2: the ${name} of bob cannot be changed here`);
    }
    expect(why("shadow", instead(SHADOW, 0, "bob:$scrypt$other:19000:0:99999:7:::"))).toMatch("sys.user.password");
    expect(why("shadow", instead(SHADOW, 0, "bob:$scrypt$h:1:0:99999:7:::"))).toMatch("the last change of bob");
    expect(why("group", instead(GROUP, 1, "users:x:0:bob"))).toMatch("the gid of users");
    expect(why("group", [...GROUP, "users:x:100:"])).toMatch("line 5: users is there twice");
    expect(why("group", [...GROUP, "bad:x:-1:"])).toMatch("line 5: -1 is not a gid");
    expect(why("group", [...GROUP, "a:b"])).toMatch("line 5: it has 2 fields, and a line is name:password:gid:members");
  });

  it("asks nothing of anybody but root, and tells what was done before a refusal", async () => {
    const [, , group] = etcMounts({ passwd: () => PASSWD, shadow: () => SHADOW, group: () => GROUP });
    const asked: string[] = [];
    const who = (uid: number): Who => ({
      uid,
      gid: uid,
      gids: [uid],
      username: "x",
      home: "/",
      cwd: "/",
      mustStillMay() {},
      async sys(call) {
        asked.push(call);
        if (call === "sys.group.members") throw new SysError(404, "Unknown user: eve");
      },
    });
    const text = new TextEncoder().encode([...GROUP, "ops:x:300:eve", "more:x:301:"].join("\n"));
    await expect(group!.write(who(1000), "/etc/group", text, {})).rejects.toMatchObject({ code: "EACCES" });
    expect(asked).toEqual([]);
    await expect(group!.write(who(0), "/etc/group", text, {})).rejects.toThrow(
      "/etc/group: sys.group.members was refused: Unknown user: eve. Done before it: group ops made",
    );
    await group!.append(who(0), "/etc/group", new TextEncoder().encode("late:x:302:\n"));
    expect(asked).toEqual(["sys.group.create", "sys.group.members", "sys.group.create"]);
    await expect(group!.write(who(0), "/etc/group", text, { ifVersion: "what it was before" })).rejects.toMatchObject({ code: "ESTALE" });
  });
});
