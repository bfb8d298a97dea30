// Editing the account files: only what calls can do, checked as a whole before the first call. If a call is refused, the error
// lists what was done before it.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import { computeAccountEdits } from "./account-edits.ts";
import { makeEtcMounts } from "./etc.ts";
import type { Who } from "./mount.ts";

const PASSWD = ["root:x:0:0:root:/root:/bin/init", "bob:x:1001:1001:bob:/home/bob:/bin/init"];
const GROUP = ["root:x:0:root", "users:x:100:bob", "family:x:200:bob", "club:x:201:"];
const SHADOW = ["bob:$scrypt$h:19000:0:99999:7:::", "root:!$scrypt$r:19000:0:99999:7:::"];
const LINES = { passwd: PASSWD, group: GROUP, shadow: SHADOW };

const callsFor = (file: keyof typeof LINES, newLines: readonly string[]) =>
  computeAccountEdits(file, LINES[file], newLines.join("\n")).map(({ call, args }) => `${call} ${JSON.stringify(args)}`);
const outcomeOf = (file: keyof typeof LINES, newLines: readonly string[]) => {
  try {
    return callsFor(file, newLines).join();
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
};
const dropLine = (lines: readonly string[], at: number) => lines.filter((_, index) => index !== at);
const replaceLine = (lines: readonly string[], at: number, line: string) => lines.with(at, line);

describe("an edited account file", () => {
  it("becomes the calls that make the change", () => {
    expect(callsFor("passwd", replaceLine(PASSWD, 1, "bob:x:1001:1001:Bob:/home/bob:/bin/init"))).toEqual([
      'sys.user.update {"username":"bob","gecos":"Bob"}',
    ]);
    expect(callsFor("shadow", replaceLine(SHADOW, 0, `bob:!${SHADOW[0]!.slice(4)}`))).toEqual([
      'sys.user.lock {"username":"bob","locked":true}',
    ]);
    expect(callsFor("shadow", replaceLine(SHADOW, 1, SHADOW[1]!.replace("!", "")))).toEqual([
      'sys.user.lock {"username":"root","locked":false}',
    ]);
    expect(callsFor("group", [...dropLine(GROUP, 3), "ops:x:300:bob,root", "empty:x:301:"])).toEqual([
      'sys.group.remove {"gid":201}',
      'sys.group.create {"name":"ops","gid":300}',
      'sys.group.members {"gid":300,"members":["bob","root"]}',
      'sys.group.create {"name":"empty","gid":301}',
    ]);
    expect(callsFor("group", replaceLine(GROUP, 2, "family:x:200:"))).toEqual(['sys.group.members {"gid":200,"members":[]}']);
  });

  it("makes no call if only the order or empty lines differ", () => {
    fc.assert(
      fc.property(fc.constantFrom("passwd", "group", "shadow"), fc.infiniteStream(fc.nat()), (file, order) => {
        const shuffled = LINES[file].toSorted(() => (order.next().value! % 2 === 0 ? 1 : -1));
        expect(callsFor(file, ["", ...shuffled, " ", ""])).toEqual([]);
      }),
    );
  });

  it("is refused as a whole, with the line and what to use instead, if no call can make the change", () => {
    expect(outcomeOf("passwd", PASSWD.slice(0, 1))).toBe(
      "/etc/passwd: users cannot be removed: lock bob with sys.user.lock. Nothing was changed",
    );
    expect(outcomeOf("passwd", [...PASSWD, "eve:x:0:0::/root:/bin/init"])).toMatch(/line 3: create eve with sys.user.create/);
    for (const [at, name] of ["uid", "gid", "gecos", "home", "shell"].entries()) {
      if (name === "gecos") continue;
      const fields = PASSWD[1]!.split(":").with(at + 2, "0");
      expect(outcomeOf("passwd", replaceLine(PASSWD, 1, fields.join(":")))).toMatch(
        `/etc/passwd, line 2: the ${name} of bob cannot be changed here`,
      );
    }
    expect(outcomeOf("shadow", replaceLine(SHADOW, 0, "bob:$scrypt$other:19000:0:99999:7:::"))).toMatch("sys.user.password");
    expect(outcomeOf("shadow", replaceLine(SHADOW, 0, "bob:$scrypt$h:1:0:99999:7:::"))).toMatch("the last change of bob");
    expect(outcomeOf("group", replaceLine(GROUP, 1, "users:x:0:bob"))).toMatch("the gid of users");
    expect(outcomeOf("group", [...GROUP, "users:x:100:"])).toMatch("line 5: users occurs twice");
    expect(outcomeOf("group", [...GROUP, "bad:x:-1:"])).toMatch("line 5: -1 is not a gid");
    expect(outcomeOf("group", [...GROUP, "a:b"])).toMatch("line 5: it has 2 fields, but a line must be name:password:gid:members");
  });

  it("makes calls only for root, and reports what was done before a refusal", async () => {
    const [, , group] = makeEtcMounts({ passwd: () => PASSWD, shadow: () => SHADOW, group: () => GROUP });
    const madeCalls: string[] = [];
    const who = (uid: number): Who => ({
      uid,
      gid: uid,
      gids: [uid],
      username: "x",
      home: "/",
      cwd: "/",
      checkStillAllowed() {},
      async runSyscall(call) {
        madeCalls.push(call);
        if (call === "sys.group.members") throw new SysError(404, "Unknown user: eve");
      },
    });
    const text = new TextEncoder().encode([...GROUP, "ops:x:300:eve", "more:x:301:"].join("\n"));
    await expect(group!.write(who(1000), "/etc/group", text, {})).rejects.toMatchObject({ code: "EACCES" });
    expect(madeCalls).toEqual([]);
    await expect(group!.write(who(0), "/etc/group", text, {})).rejects.toThrow(
      "/etc/group: sys.group.members was refused: Unknown user: eve. Already done: group ops created",
    );
    await group!.append(who(0), "/etc/group", new TextEncoder().encode("late:x:302:\n"));
    expect(madeCalls).toEqual(["sys.group.create", "sys.group.members", "sys.group.create"]);
    await expect(group!.write(who(0), "/etc/group", text, { ifVersion: "what it was before" })).rejects.toMatchObject({ code: "ESTALE" });
  });
});
