// How much each user may store, and that the running totals match what is stored after any sequence of changes.

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { MemorySql } from "../../../test/support/memory-ports.ts";
import { ROW_BYTES } from "../../lib/row-bytes.ts";
import { migrate as migrateBy } from "../../ports/migrate.ts";
import { parentOf } from "../../vfs/path.ts";
import { Accounts } from "../nouns/accounts.ts";
import { Files } from "../nouns/files.ts";
import { Groups } from "../nouns/groups.ts";
import { Usage } from "../nouns/usage.ts";
import { quotaProblem, Quotas } from "./quotas.ts";
import { migrate, MIGRATIONS } from "../schema/migrate.ts";

const GIB = 1024 ** 3;

function world(storageBytes: number | null = null) {
  const sql = new MemorySql();
  migrate(sql);
  const usage = new Usage(sql);
  const accounts = new Accounts(sql, new Groups(sql));
  const config = new Map<string, string>();
  const ann = accounts.add({ username: "ann", hash: "!" }, 0);
  return { sql, usage, files: new Files(sql, usage), config, ann, quotas: new Quotas(config, accounts, usage, storageBytes) };
}

it("uses root's limit for the user, else root's limit for all, else the smaller of 10 GiB and half the disk", () => {
  const { quotas, config, ann } = world();
  expect(quotas.get(ann.uid).limitBytes).toBe(10 * GIB);
  expect(world(4 * GIB).quotas.get(1000).limitBytes).toBe(2 * GIB);
  expect(world(400 * GIB).quotas.get(1000).limitBytes).toBe(10 * GIB);
  config.set("config/files/quota_bytes", "5000");
  expect(quotas.get(ann.uid)).toEqual({ uid: ann.uid, username: "ann", usedBytes: 0, limitBytes: 5000 });
  config.set(`config/files/user_quota_bytes/${ann.uid}`, "0");
  expect(quotas.remainingBytesOf(ann.uid)).toBe(0);
  config.set(`config/files/user_quota_bytes/${ann.uid}`, "unlimited");
  expect(quotas.remainingBytesOf(ann.uid)).toBe(Infinity);
  config.set(`config/files/user_quota_bytes/${ann.uid}`, "");
  expect(quotas.remainingBytesOf(ann.uid)).toBe(5000);
  expect(quotas.remainingBytesOf(0)).toBe(Infinity);
});

it("refuses a limit that cannot be parsed", () => {
  for (const value of ["", "0", "1048576", "unlimited"]) expect(quotaProblem("config/files/quota_bytes", value)).toBeNull();
  for (const value of ["10GB", "-1", "1e9", "none"]) expect(quotaProblem("config/files/quota_bytes", value)).toContain("must be");
  expect(quotaProblem("config/files/user_quota_bytes/ann", "1")).toContain("followed by a uid");
  expect(quotaProblem("config/server/name", "10GB")).toBeNull();
});

it("counts every row of the tree for its owner, however rows are added, change owner and are removed", () => {
  const names = ["/tmp/a", "/tmp/b", "/tmp/d", "/tmp/d/a", "/tmp/d/b", "/home/ann/x"];
  const step = fc.record({
    does: fc.constantFrom("put", "put", "put", "remove", "move", "home"),
    path: fc.constantFrom(...names),
    uid: fc.constantFrom(0, 1000, 1001),
    size: fc.integer({ min: 0, max: 5000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { sql, files, usage } = world();
      for (const { does, path, uid, size } of steps) {
        if (does === "put")
          files.put({ path, kind: "file", uid, gid: uid, mode: 0o644, size, hash: `h${size}`, modifiedAt: 0 }, parentOf(path), null);
        else if (does === "remove") files.remove(path);
        else if (does === "move") {
          files.remove("/tmp/moved");
          files.move(path, "/tmp/moved", "/tmp");
        } else files.makeHome({ home: "/home/ann", uid: 1000, gid: 1000 }, 0);
      }
      const stored = sql.all(`SELECT uid, sum(size + ${ROW_BYTES}) AS bytes FROM files GROUP BY uid`);
      for (const uid of [0, 1000, 1001]) expect(usage.bytesOf(uid)).toBe(stored.find((row) => row.uid === uid)?.bytes ?? 0);
    }),
    { numRuns: 100 },
  );
});

it("counts uploads from their start until they are finished or dropped", () => {
  const { usage } = world();
  usage.setPart("a", 1000, 5000, 1);
  usage.setPart("b", 1000, 300, 5);
  usage.setPart("a", 1000, 200, 2);
  expect(usage.bytesOf(1000)).toBe(2 * (4096 + ROW_BYTES));
  expect(usage.uploadPartsOf(1000)).toEqual(["a", "b"]);
  usage.dropPartsBefore(3);
  expect(usage.bytesOf(1000)).toBe(4096 + ROW_BYTES);
  usage.dropPart("b");
  usage.dropPart("b");
  expect(usage.bytesOf(1000)).toBe(0);
});

it("counts an upload that was interrupted before any bytes arrived", () => {
  const { usage } = world();
  usage.setPart("a", 1000, 0, 1);
  expect(usage.bytesOf(1000)).toBe(ROW_BYTES);
});

it("starts with the files that are already stored", () => {
  const sql = new MemorySql();
  migrateBy(
    sql,
    MIGRATIONS.filter(({ version }) => version < 11),
  );
  sql.run(
    "INSERT INTO files VALUES ('/tmp/a', '/tmp', 'file', 1000, 1000, 420, 100, 'x', 0), ('/tmp/b', '/tmp', 'file', 1000, 1000, 420, 7, 'y', 0)",
  );
  migrate(sql);
  expect(new Usage(sql).bytesOf(1000)).toBe(107 + 2 * ROW_BYTES);
});

it("reports large content whose last row was removed", () => {
  const { sql, files } = world();
  const put = (path: string, hash: string, content: Uint8Array | null) =>
    files.put({ path, kind: "file", uid: 1000, gid: 1000, mode: 0o644, size: 1, hash, modifiedAt: 0 }, "/tmp", content);
  put("/tmp/a", "large", null);
  put("/tmp/b", "large", null);
  put("/tmp/c", "small", new Uint8Array(1));
  files.remove("/tmp/a");
  files.remove("/tmp/c");
  expect(files.takeFreedHashes()).toEqual([]);
  put("/tmp/b", "other", null);
  expect(files.takeFreedHashes()).toEqual(["large"]);
  expect(() =>
    sql.transaction(() => {
      files.remove("/tmp/b");
      throw new Error("lost");
    }),
  ).toThrow("lost");
  files.onRollback();
  expect(files.takeFreedHashes()).toEqual([]);
});
