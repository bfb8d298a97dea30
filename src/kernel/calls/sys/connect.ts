// The first request on a socket: authenticates it.

import { z } from "zod";
import { isCapabilityPattern } from "../../../lib/capability.ts";
import { fail } from "../../../lib/sys-error.ts";
import { PROTOCOL } from "../../../protocol/frames.ts";
import { ConnectionIdentity, Role } from "../../../protocol/records.ts";
import { signalsFor } from "../../../protocol/signals.ts";
import { failSetupRequired } from "../../identity/authorize.ts";
import type { WriteContext } from "../../context.ts";
import { login } from "../../identity/login.ts";
import { strangerSyscall } from "../define.ts";
import { DEVICE_STATUS, EXEC_STATUS } from "../../../protocol/signal-names.ts";

const Short = z.string().max(256);

export default strangerSyscall({
  name: "sys.connect",
  doc: "Authenticate a socket. Role and capabilities come from the gateway's own tables, never from the client. An older socket with the same user, role and client id is closed with code 1000. A driver that keeps a ledger of the keys it was called with sets ledger.",
  runs: "kernel",
  does: "effect",
  from: ["stranger"],
  grant: [],
  args: z.object({
    protocol: z.unknown().optional(),
    client: z.object({
      id: Short.trim().min(1),
      version: Short.default(""),
      platform: Short.default(""),
      role: z.unknown().optional(),
      channel: Short.optional(),
    }),
    driver: z.object({ implements: z.array(Short).max(256).optional(), ledger: z.boolean().optional() }).optional(),
    auth: z.object({ username: z.string().max(256).default(""), password: z.string().optional(), token: Short.optional() }).optional(),
  }),
  result: z.object({
    protocol: z.literal(PROTOCOL),
    server: z.object({ version: z.string(), connectionId: z.string() }),
    identity: ConnectionIdentity,
    syscalls: z.array(z.string()),
    signals: z.array(z.string()),
  }),
  fails: {
    102: "protocol is not 1",
    103: "the role is unknown, a driver lists no valid patterns in implements, or a service names no channel",
    401: "no credential or a wrong one; the answer does not say which part was wrong",
    409: "the socket is already authenticated, or the user has too many devices",
    425: "the gateway has no user yet",
    429: "too many failed attempts; details.retryAfterMs says how long to wait",
  },
  example: {
    args: {
      protocol: 1,
      client: { id: "laptop-cli", version: "0.1.0", platform: "linux", role: "user" },
      auth: { username: "alice", password: "correct horse" },
    },
    result: {
      protocol: 1,
      server: { version: "0.1.0", connectionId: "0f4c1a9e-6a35-4f5b-9a68-2f8f5f1f7b11" },
      identity: {
        role: "user",
        process: { uid: 1000, gid: 1000, gids: [100, 1000], username: "alice", home: "/home/alice", cwd: "/home/alice", workspaceId: null },
        capabilities: ["sys.config.get"],
      },
      syscalls: ["sys.config.get"],
      signals: [DEVICE_STATUS, EXEC_STATUS],
    },
  },
  async run(context, stranger, { protocol, client, driver, auth }) {
    if (protocol !== PROTOCOL) fail(102, "Unsupported protocol version");
    const role = Role.safeParse(client.role).data ?? fail(103, "Invalid client role");
    const patterns = role === "driver" ? checkPatterns(driver?.implements) : null;
    if (role === "service" && !client.channel?.trim()) fail(103, "Service role requires channel field");
    if (context.accounts.isSetupMode()) failSetupRequired();
    const { connectionId, address } = stranger;
    const { account, credential } = await login(context, auth, { role, clientId: client.id, address });
    if (context.signal.aborted) fail(503, "The caller has disconnected");
    if (context.connections.caller(connectionId) !== undefined) fail(409, "Already connected");

    const connection = {
      connectionId,
      uid: account.uid,
      role,
      clientId: client.id,
      clientVersion: client.version,
      platform: client.platform,
      channel: client.channel?.trim() ?? null,
      implements: patterns,
      credential,
      address,
    };
    const open = ({ connections, tokens, now }: WriteContext) => {
      if (credential.kind === "token") tokens.recordUse([credential.tokenId], now);
      return connections.open(connection, now);
    };
    // A connection need not survive a crash, so a login does not wait for the disk. A device must survive one.
    const caller =
      patterns === null
        ? context.relaxed(open)
        : await context.finish((nouns) => {
            const { devices, emit, after, now } = nouns;
            const { platform, version } = client;
            const { key, isNew } = devices.recordConnection(
              {
                deviceId: client.id,
                ownerUid: account.uid,
                platform,
                version,
                implements: patterns,
                keepsLedger: driver?.ledger === true,
                connectionId,
              },
              now,
            );
            // Until now the name may have meant another device to its owner, and grants must not carry over.
            if (isNew) nouns.approvals.revokeGrantsForDevice(devices.namesInGrants(key), now);
            after(() => {
              emit.sendDeviceStatus("connected", key, connectionId);
              context.agents.onDeviceConnected(key);
            });
            return open(nouns);
          });
    if (role === "user") context.agents.onPersonConnected(caller);
    return {
      protocol: 1 as const,
      server: { version: context.about.version, connectionId },
      identity: caller.identity,
      syscalls: [...caller.capabilities],
      signals: signalsFor(role),
    };
  },
});

function checkPatterns(patterns: readonly string[] | undefined): readonly string[] {
  if (patterns === undefined || patterns.length === 0) fail(103, "Driver role requires implements list");
  for (const pattern of patterns) if (!isCapabilityPattern(pattern)) fail(103, `Invalid implements pattern: ${pattern}`);
  return patterns;
}
