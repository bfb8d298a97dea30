// Compares the model with what a gateway lists while no request is in progress: everything acknowledged is there once and as
// acknowledged, everything else is wholly there or wholly absent, and what was removed stays removed. What is found must stay
// from then on.

import type { Calls } from "../../../src/client/client.ts";
import type { Account, Model, Token, TokenRow, User } from "./model.ts";

export type Listing = {
  config: Calls["sys.config.get"]["result"]["entries"];
  tokens: TokenRow[];
  users: Account[];
  groups: Calls["sys.group.list"]["result"]["groups"];
  capabilities: Calls["sys.capability.list"]["result"]["capabilities"];
};

/** The gateway's built-in groups. */
const BUILT_IN = new Set(["root", "users", "drivers", "services"]);
const TOKEN_FIELDS = [
  "tokenId",
  "tokenPrefix",
  "uid",
  "kind",
  "label",
  "allowedRole",
  "allowedDeviceId",
  "createdAt",
  "expiresAt",
] as const;
const ACCOUNT_FIELDS = ["uid", "gid", "username", "gecos", "home", "shell"] as const;

export function judge(model: Model, listing: Listing): void {
  judgeConfig(model, listing.config);
  judgeTokens(model, listing.tokens);
  judgeUsers(model, listing);
  judgeGroups(model, listing.groups);
  judgeCapabilities(model, listing.capabilities);
}

function judgeConfig({ config, oracle }: Model, entries: Listing["config"]): void {
  const values = new Map(entries.map(({ key, value }) => [key, value]));
  for (const [key, register] of config) {
    const value = values.get(key) ?? null;
    const expected = register.expected();
    if (!register.settle(value)) oracle.violate("lost", `config ${key}: expected ${expected}, found ${brief(value)}`);
  }
  for (const key of values.keys())
    if (/^(?:config\/crash|users)\//.test(key) && !config.has(key)) oracle.violate("wrong", `config ${key}: nobody wrote it`);
}

function judgeTokens(model: Model, rows: readonly TokenRow[]): void {
  const { tokens, oracle } = model;
  const byLabel = Map.groupBy(rows, (row) => String(row.label));
  for (const token of tokens.values()) {
    const [row, ...more] = byLabel.get(token.label) ?? [];
    if (more.length > 0) oracle.violate("doubled", `token ${token.label} is there ${more.length + 1} times`);
    if (row !== undefined) judgeToken(model, token, row);
    else if (token.issued !== null || token.row !== null) oracle.violate("lost", `token ${token.label} is gone`);
    else if (!token.isKeyed) tokens.delete(token.label);
  }
  for (const label of byLabel.keys()) if (!tokens.has(label)) oracle.violate("doubled", `token ${label}: nobody asked for it`);
}

function judgeToken({ oracle }: Model, token: Token, row: TokenRow): void {
  const first = token.issued ?? token.row;
  for (const field of first === null ? [] : TOKEN_FIELDS)
    if (first![field] !== row[field])
      oracle.violate("lost", `token ${token.label}: ${field} was ${String(first![field])}, is ${String(row[field])}`);
  token.row ??= row;
  const expected = token.revoked.expected();
  const isRevoked = row.revokedAt === null ? "no" : "yes";
  if (!token.revoked.settle(isRevoked)) {
    if (isRevoked === "no") oracle.violate("revived", `token ${token.label} was revoked and is not any more`);
    else oracle.violate("wrong", `token ${token.label}: expected revoked ${expected}, found ${isRevoked}`);
  }
  // A second revocation would change the time: then a repeat was executed again.
  const { revokedAt } = row;
  if (token.revokedAt !== null && revokedAt !== token.revokedAt)
    oracle.violate("doubled", `token ${token.label}: revoked at ${token.revokedAt}, now at ${revokedAt}`);
  token.revokedAt = revokedAt;
}

function judgeUsers(model: Model, { users: rows, groups }: Listing): void {
  const { users, oracle } = model;
  const byName = new Map(rows.map((row) => [row.username, row]));
  if (byName.size !== rows.length) oracle.violate("doubled", "a user is listed twice");
  for (const user of users.values()) {
    const row = byName.get(user.username);
    if (row !== undefined) judgeUser(model, user, row, groups);
    else if (user.account !== null) oracle.violate("lost", `user ${user.username} is gone`);
    else {
      if (groups.some(({ name, members }) => name === user.username || members.includes(user.username)))
        oracle.violate("half", `user ${user.username} is absent but for groups`);
      if (!user.isKeyed) users.delete(user.username);
    }
  }
  for (const name of byName.keys()) if (name !== "root" && !users.has(name)) oracle.violate("wrong", `user ${name}: nobody asked for them`);
}

function judgeUser({ oracle }: Model, user: User, row: Account, groups: Listing["groups"]): void {
  for (const field of user.account === null ? [] : ACCOUNT_FIELDS)
    if (user.account![field] !== row[field])
      oracle.violate("lost", `user ${user.username}: ${field} was ${user.account![field]}, is ${row[field]}`);
  if (!row.groups.includes("users") || !groups.some(({ gid, name }) => gid === row.gid && name === user.username))
    oracle.violate("half", `user ${user.username} lacks a group: ${row.groups.join(", ")}`);
  user.account ??= row;
  const expected = user.locked.expected();
  if (!user.locked.settle(row.locked ? "yes" : "no"))
    oracle.violate(row.locked ? "lost" : "revived", `user ${user.username}: expected locked ${expected}, found ${row.locked}`);
}

function judgeGroups({ groups, users, oracle }: Model, rows: Listing["groups"]): void {
  const byName = Map.groupBy(rows, (row) => row.name);
  for (const group of groups.values()) {
    const [row, ...more] = byName.get(group.name) ?? [];
    if (more.length > 0) oracle.violate("doubled", `group ${group.name} is there ${more.length + 1} times`);
    if (row === undefined) {
      if (group.gid !== null) oracle.violate("lost", `group ${group.name} is gone`);
      else if (!group.isKeyed) groups.delete(group.name);
      continue;
    }
    if (group.gid !== null && group.gid !== row.gid) oracle.violate("lost", `group ${group.name}: gid was ${group.gid}, is ${row.gid}`);
    group.gid = row.gid;
    const expected = group.members.expected();
    const members = row.members.toSorted().join(",");
    if (!group.members.settle(members)) oracle.violate("lost", `group ${group.name}: expected members ${expected}, found ${members}`);
  }
  for (const name of byName.keys())
    if (!BUILT_IN.has(name) && !groups.has(name) && !users.has(name)) oracle.violate("wrong", `group ${name}: nobody asked for it`);
}

function judgeCapabilities({ capabilities, oracle }: Model, rows: Listing["capabilities"]): void {
  const granted = new Set(rows.map(({ gid, capability }) => `${gid} ${capability}`));
  for (const [name, register] of capabilities) {
    const isThere = granted.has(name);
    if (!register.settle(isThere ? "yes" : "no"))
      oracle.violate(isThere ? "revived" : "lost", `capability ${name} is ${isThere ? "there again" : "gone"}`);
  }
  for (const name of granted) if (!capabilities.has(name)) oracle.violate("revived", `capability ${name}: nobody granted it`);
}

function brief(value: string | null): string {
  return value === null ? "absent" : JSON.stringify(value.slice(0, 60));
}
