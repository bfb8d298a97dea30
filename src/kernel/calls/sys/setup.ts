// Sets up a fresh gateway: makes its first user.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import { isHttpUrl } from "../../../lib/http-url.ts";
import { isTimezone } from "../../../lib/timezone.ts";
import { FirstUseWithinMs, IssuedToken, ProcessIdentity } from "../../../protocol/records.ts";
import { checkMaySetUp } from "../../setup/setup-access.ts";
import { strangerSyscall } from "../define.ts";

export default strangerSyscall({
  name: "sys.setup",
  doc: "Create the first user and root's password on a gateway that has neither. Each part of ai is optional; omitted parts keep their values. The socket stays unauthenticated: call sys.connect next. If others can reach the gateway, `code` must be the one-time code that it printed on its console, or the one that its operator chose.",
  runs: "kernel",
  does: "effect",
  from: ["stranger"],
  when: "setup",
  grant: [],
  secret: true,
  args: z.object({
    username: z.string().trim().min(1),
    password: z.string().min(1),
    rootPassword: z.string().optional(),
    timezone: z.string().optional(),
    ai: z
      .object({
        provider: z.string().max(256).optional(),
        model: z.string().max(256).optional(),
        apiKey: z.string().max(4096).optional(),
        /** The URL of the user's own model server. */
        baseUrl: z.string().max(2048).optional(),
      })
      .optional(),
    node: z
      .object({
        deviceId: z.string().trim().min(1).max(256),
        label: z.string().max(256).optional(),
        expiresAt: z.int().optional(),
        firstUseWithinMs: FirstUseWithinMs.optional(),
      })
      .optional(),
    /** Must be empty, like `mounts` of proc.spawn. */
    bootstrap: z
      .record(z.string(), z.unknown())
      .refine((given) => Object.values(given).every((value) => value === undefined || value === null || value === ""), {
        error: "bootstrap is not supported: this gateway has no packages to import. Leave it out",
      })
      .optional(),
    code: z.string().max(256).optional(),
  }),
  result: z.object({ user: ProcessIdentity, rootLocked: z.boolean(), nodeToken: IssuedToken.optional() }),
  fails: {
    400: "a value is missing or not valid; the message names it",
    403: "the one-time code is missing or wrong",
    409: "the gateway already has a user",
    429: "too many wrong codes",
  },
  example: {
    args: { username: "alice", password: "correct horse", timezone: "Europe/Berlin" },
    result: {
      user: { uid: 1000, gid: 1000, gids: [100, 1000], username: "alice", home: "/home/alice", cwd: "/home/alice", workspaceId: null },
      rootLocked: false,
    },
  },
  async run(context, stranger, args) {
    checkMaySetUp(context, args.code, stranger.address);
    const { passwords, signal } = context;
    passwords.checkLength(args.password, "password");
    if (args.rootPassword !== undefined) passwords.checkLength(args.rootPassword, "rootPassword");
    if (args.timezone !== undefined && !isTimezone(args.timezone)) fail(400, "timezone must be a valid IANA timezone");
    if (args.ai?.baseUrl !== undefined && !isHttpUrl(args.ai.baseUrl)) fail(400, "ai.baseUrl must be a URL like http://127.0.0.1:8080/v1");
    if (args.node?.expiresAt !== undefined && args.node.expiresAt <= context.now) fail(400, "node.expiresAt must be in the future");
    const hash = await passwords.hash(args.password, signal);
    const rootHash = args.rootPassword === undefined ? hash : await passwords.hash(args.rootPassword, signal);

    return context.finish(({ accounts, config, tokens, files, repositories, now }) => {
      // Another set-up may have finished while this one was hashing.
      if (!accounts.isSetupMode()) fail(409, "System already initialized");
      const user = accounts.add({ username: args.username, hash }, now);
      files.makeHome(user, now);
      repositories.makeHome(user.username, now);
      accounts.setPasswordHash("root", rootHash, now);
      if (args.timezone !== undefined) config.set("config/server/timezone", args.timezone);
      if (args.ai?.provider !== undefined) config.set("config/ai/provider", args.ai.provider);
      if (args.ai?.model !== undefined) config.set("config/ai/model", args.ai.model);
      if (args.ai?.apiKey !== undefined) config.set("config/ai/api_key", args.ai.apiKey);
      if (args.ai?.baseUrl !== undefined) config.set("config/ai/base_url", args.ai.baseUrl);
      const result = { user: accounts.identityOf(user), rootLocked: accounts.isLocked("root") };
      if (args.node === undefined) return result;
      const { deviceId, label, expiresAt, firstUseWithinMs } = args.node;
      const node = {
        uid: user.uid,
        kind: "node" as const,
        label: label ?? `node:${deviceId}`,
        allowedDeviceId: deviceId,
        expiresAt,
        firstUseWithinMs,
      };
      return { ...result, nodeToken: tokens.make(node, now) };
    });
  },
});
