// Records that two or more calls share, as schemas. Field names are those of the wire.

import { z } from "zod";

export const Uid = z.int({ error: "uid must be a non-negative integer" }).min(0, { error: "uid must be a non-negative integer" });
export const Gid = z.int({ error: "gid must be a non-negative integer" }).min(0, { error: "gid must be a non-negative integer" });

export const ProcessIdentity = z.object({
  uid: z.int(),
  gid: z.int(),
  gids: z.array(z.int()),
  username: z.string(),
  home: z.string(),
  cwd: z.string(),
  workspaceId: z.string().nullable(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

const identity = { process: ProcessIdentity, capabilities: z.array(z.string()) };
export const ConnectionIdentity = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), ...identity }),
  z.object({ role: z.literal("driver"), ...identity, device: z.string(), implements: z.array(z.string()) }),
  z.object({ role: z.literal("service"), ...identity, channel: z.string() }),
]);
export type ConnectionIdentity = z.infer<typeof ConnectionIdentity>;

export const Role = z.enum(["user", "driver", "service"]);
export type Role = z.infer<typeof Role>;

export const TokenKind = z.enum(["node", "service", "user"], { error: "kind must be one of: node, service, user" });
export type TokenKind = z.infer<typeof TokenKind>;

/** How soon a new token must be used for the first time; if it is not, it expires. */
export const FirstUseWithinMs = z
  .int()
  .min(1)
  .max(365 * 24 * 60 * 60 * 1000);

/** A token as everyone may see it: without its value. */
export const TokenSummary = z.object({
  tokenId: z.string(),
  uid: z.int(),
  kind: TokenKind,
  label: z.string().nullable(),
  tokenPrefix: z.string(),
  allowedRole: Role.nullable(),
  allowedDeviceId: z.string().nullable(),
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** When it expires unless it is used before; null if it does not expire unused. */
  endsUnusedAt: z.number().nullable(),
  revokedAt: z.number().nullable(),
  revokedReason: z.string().nullable(),
});
export type TokenSummary = z.infer<typeof TokenSummary>;

/** A token as its creator sees it, once. */
export const IssuedToken = TokenSummary.pick({
  tokenId: true,
  tokenPrefix: true,
  uid: true,
  kind: true,
  label: true,
  allowedRole: true,
  allowedDeviceId: true,
  createdAt: true,
  expiresAt: true,
  endsUnusedAt: true,
}).extend({ token: z.string() });
export type IssuedToken = z.infer<typeof IssuedToken>;

export const Account = z.object({
  uid: z.int(),
  gid: z.int(),
  username: z.string(),
  gecos: z.string(),
  home: z.string(),
  shell: z.string(),
  groups: z.array(z.string()),
  locked: z.boolean(),
});
export type Account = z.infer<typeof Account>;

export const Group = z.object({ gid: z.int(), name: z.string(), members: z.array(z.string()) });
export type Group = z.infer<typeof Group>;

/** `problem` is set if a stored value cannot be shown, and says what is wrong and what to do; then `value` is empty. */
export const ConfigEntry = z.object({ key: z.string(), value: z.string(), problem: z.string().optional() });

/** An error that the caller can correct: the call ran, and this is why it changed nothing. */
export const Failure = z.object({ ok: z.literal(false), error: z.string() });

export const DeviceSummary = z.object({
  deviceId: z.string(),
  ownerUid: z.int(),
  description: z.string(),
  platform: z.string(),
  version: z.string(),
  online: z.boolean(),
  lastSeenAt: z.number(),
});
export const DeviceRecord = DeviceSummary.extend({
  implements: z.array(z.string()),
  firstSeenAt: z.number(),
  connectedAt: z.number().nullable(),
  disconnectedAt: z.number().nullable(),
});
export type DeviceRecord = z.infer<typeof DeviceRecord>;

export const DeviceId = z.string().min(1).max(256);
