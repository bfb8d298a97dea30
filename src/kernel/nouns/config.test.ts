// Configuration: which keys are sensitive, that their values are sealed at rest, who may read what, and that a prefix matches whole path
// segments.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryCrypto, MemorySql, Random } from "../../../test/support/memory-ports.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { migrate } from "../schema/migrate.ts";
import { Config, isSensitive } from "./config.ts";

const ROOT = { uid: 0 };

const name = fc.string({ unit: fc.constantFrom("a", "b", "0", ".", "_", "é"), minLength: 1, maxLength: 4 });
const key = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const secret = fc
  .tuple(key, fc.constantFrom("api_key", "token", "my_secret", "OPENAI_API_KEY", "client_secret", "smtp_password"))
  .map((parts) => parts.join("/"));

describe("isSensitive", () => {
  it("depends only on the last segment of the key, in upper or lower case", () => {
    fc.assert(
      fc.property(secret, (path) => {
        expect(isSensitive(path)).toBe(true);
      }),
    );
    for (const path of ["config/ai/api_key", "api_key", "x/ACCESS_TOKEN", "x/bot_token", "password"])
      expect(isSensitive(path), path).toBe(true);
    for (const path of ["config/ai/model", "token/count", "x/tokens", "x/passwords", "x/secretary", "x/api_keys", ""])
      expect(isSensitive(path), path).toBe(false);
  });
});

describe("Config", () => {
  it("returns the value that was set last or the default, and opens sealed values", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.oneof(key, secret), fc.string()), { maxLength: 20 }), (sets) => {
        const { config, sql } = fresh();
        const wanted = new Map([["config/server/name", "gsv"]]);
        for (const [path, value] of sets) {
          config.set(path, value);
          wanted.set(path, value);
        }
        for (const [path, value] of wanted) expect(config.get(path)).toBe(value);
        expect(config.list(ROOT)).toEqual(
          [...wanted].map(([path, value]) => ({ key: path, value })).toSorted((a, b) => (a.key < b.key ? -1 : 1)),
        );
        for (const row of sql.all("SELECT key, sealed FROM config_kv")) expect(row.sealed).toBe(isSensitive(String(row.key)) ? 1 : 0);
      }),
      { numRuns: 60 },
    );
  });

  it("lists exactly the keys below a prefix", () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 30 }), key, (paths, prefix) => {
        const { config } = fresh();
        for (const path of paths) config.set(path, "x");
        const wanted = [...paths, "config/server/name"]
          .filter((path) => path.startsWith(`${prefix}/`))
          .toSorted((a, b) => (a < b ? -1 : 1));
        expect(config.list(ROOT, prefix).map((entry) => entry.key)).toEqual(wanted);
        expect(config.listKeys(ROOT, prefix)).toEqual(wanted);
      }),
      { numRuns: 60 },
    );
  });

  it("reads no values of other users, and refuses lists that are too large for an answer", () => {
    const { config } = fresh();
    config.set("users/1000/ai/model", "mine");
    const mine = [{ key: "users/1000/ai/model", value: "mine" }];
    for (let at = 0; at < 37; at++) config.set(`users/1001/ai/${at}`, "x".repeat(1024 * 1024));
    expect(config.list({ uid: 1000 })).toEqual([{ key: "config/server/name", value: "gsv" }, ...mine]);
    expect(config.list({ uid: 1000 }, "users")).toEqual(mine);
    expect(config.list({ uid: 1000 }, "users/1001")).toEqual([]);
    for (const [caller, prefix] of [[ROOT], [ROOT, "users"], [{ uid: 1001 }]] as const)
      expect(() => config.list(caller, prefix)).toThrow("Result too large");
    expect(config.list(ROOT, "config")).toHaveLength(1);
    expect(config.listKeys(ROOT, "users")).toHaveLength(38);
    expect(config.listKeys({ uid: 1000 }, "users")).toEqual(["users/1000/ai/model"]);
  });

  it("lists the other values if one cannot be opened", () => {
    const { config, sql } = fresh();
    config.set("config/ai/api_key", "sk-sealed");
    config.set("config/ai/other_token", "kept");
    sql.run("UPDATE config_kv SET value = 'damaged' WHERE key = 'config/ai/api_key'");
    const problem = "config/ai/api_key cannot be opened: set it again, or restore the gateway's secret key from a backup";
    expect(config.list(ROOT, "config/ai")).toEqual([
      { key: "config/ai/api_key", value: "", problem },
      { key: "config/ai/other_token", value: "kept" },
    ]);
    expect(config.listKeys(ROOT, "config/ai")).toEqual(["config/ai/api_key", "config/ai/other_token"]);
    expect(() => config.get("config/ai/api_key")).toThrow(problem);
    expect(config.listSealedKeys(ROOT)).toEqual(["config/ai/api_key", "config/ai/other_token"]);
    expect(config.listSealedKeys({ uid: 1000 })).toEqual([]);
  });

  it("limits what each user stores, and lets them write existing keys again", () => {
    const { config } = fresh();
    const mib = "x".repeat(1024 * 1024);
    for (let at = 0; at < 3; at++) config.setWithinUserLimit(1000, `users/1000/ai/${at}`, mib);
    expect(() => config.setWithinUserLimit(1000, "users/1000/ai/3", mib)).toThrow("Too much configuration");
    config.setWithinUserLimit(1000, "users/1000/ai/0", mib);
    config.setWithinUserLimit(1001, "users/1001/ai/0", mib);
    for (let at = 0; at < LIMITS.configKeysPerUser; at++) config.setWithinUserLimit(1002, `users/1002/ai/${at}`, "");
    expect(() => config.setWithinUserLimit(1002, "users/1002/ai/more", "")).toThrow("Too many keys");
    config.setWithinUserLimit(1002, "users/1002/ai/0", "larger");
  });

  it("never stores a secret in plain text", () => {
    const { config, sql } = fresh();
    config.set("config/ai/api_key", "sk-canary-7f3a");
    const stored = String(sql.get("SELECT value FROM config_kv WHERE key = 'config/ai/api_key'")?.value);
    expect(stored).not.toContain("canary");
    expect(Buffer.from(stored, "base64").toString("latin1")).not.toContain("canary");
    // The seal is bound to the key: a value copied to another key cannot be opened.
    sql.run("INSERT INTO config_kv SELECT 'users/1001/ai/api_key', value, sealed FROM config_kv WHERE key = 'config/ai/api_key'");
    expect(() => config.get("users/1001/ai/api_key")).toThrow();
  });

  it("lets a user read their own keys and the system's non-sensitive ones, and no other user's", () => {
    const { config } = fresh();
    const uid = fc.integer({ min: 1000, max: 99_999 });
    fc.assert(
      fc.property(uid, uid, key, secret, (mine, theirs, path, hidden) => {
        expect(config.mayRead({ uid: mine }, `users/${mine}/${hidden}`)).toBe(true);
        expect(config.mayRead({ uid: mine }, `users/${theirs}/${path}`)).toBe(mine === theirs);
        expect(config.mayRead({ uid: mine }, `users/${mine}0/${path}`)).toBe(false);
        expect(config.mayRead({ uid: mine }, `config/${path}`)).toBe(true);
        expect(config.mayRead({ uid: mine }, `config/${hidden}`)).toBe(false);
        expect(config.mayRead({ uid: mine }, `other/${path}`)).toBe(false);
        expect(config.mayRead({ uid: 0 }, `users/${theirs}/${hidden}`)).toBe(true);
      }),
    );
  });
});

function fresh(): { config: Config; sql: MemorySql } {
  const sql = new MemorySql();
  migrate(sql);
  return { sql, config: new Config(sql, memoryCrypto(new Random("config")), new Map([["config/server/name", "gsv"]])) };
}
