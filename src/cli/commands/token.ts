// gsv token: creates, lists and revokes tokens. Stdout has only the new token, so that it can be piped; for a device, the line to
// paste on that machine follows on stderr.

import type { Client } from "../../client/client.ts";
import { installLine, LINE_WORKS_MS, addressWarning } from "../../lib/install-line.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import { parseExpiry, parseDuration, formatRelativeTime, formatDuration } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, hasCode, resolveGateway, SESSION_HOURS, withClient } from "../session/session.ts";
import { printCommand, printNote, printText, printJson, printTable } from "../terminal/terminal.ts";

type CreateFlags = Globals & {
  kind?: string;
  device?: string;
  label?: string;
  expires?: string;
  expiresAt?: string;
  within?: string;
  uid?: string;
};
type TokenEnd = { expiresAt: number | null; endsUnusedAt?: number | null };

export async function tokenCreate(flags: CreateFlags): Promise<void> {
  const { device, label } = flags;
  const kind = flags.kind ?? (device === undefined ? "user" : "node");
  if (kind !== "node" && kind !== "service" && kind !== "user") throw new Problem(`--kind must be node, service or user: ${kind}`);
  if (device !== undefined && kind !== "node") throw new Problem("--device needs --kind node");
  const expires = flags.expires ?? flags.expiresAt;
  const within = flags.within === undefined ? (device === undefined ? null : LINE_WORKS_MS) : parseDuration(flags.within);
  const args = {
    kind,
    ...(within === null ? {} : { firstUseWithinMs: within }),
    ...(device === undefined ? {} : { allowedDeviceId: device }),
    ...(label === undefined ? {} : { label }),
    ...(expires === undefined ? {} : { expiresAt: parseExpiry(expires) }),
    ...parseUidFlag(flags),
  } as const;
  const { token, username } = await withClient(flags, async (client) => ({
    ...(await client.call("sys.token.create", args)),
    username: device === undefined ? "" : await ownerName(client, args.uid),
  })).catch((error: unknown) => {
    throw hasCode(error, 403) && /outlive/.test(error.message) ? new Problem(`${error.message}: add -p to this command (403)`) : error;
  });
  const origin = resolveGateway(flags).address.origin.replace(/^ws/, "http");
  const line = (secret: string) => (device === undefined ? null : installLine(origin, { deviceId: device, username, token: secret }));
  const install = line(token.token);
  if (flags.json) return printJson(install === null ? { token } : { token, install: install.trim() });
  const bound = device === undefined ? "" : ` for device ${device}`;
  printNote(
    `${kind} token ${token.tokenId}${bound}; it ${within === null ? expiryText(token) : `must be used within ${formatDuration(within)}`}. It is not shown again:`,
  );
  printText(token.token);
  // A token that is piped elsewhere is not shown on the terminal.
  const shown = process.stdout.isTTY ? install : line("TOKEN");
  if (shown !== null) {
    const works = within === null ? "" : ` within ${formatDuration(within)}`;
    printNote(`To connect ${device}, run this command on that machine${works} (needs Node 20 or newer):`);
    printCommand(shown);
    const remark = addressWarning(origin, "gsv --url URL token create ...");
    if (remark !== null) printNote(`gsv: note: ${remark}`);
  }
  const isSessionBound =
    kind === "user" &&
    expires === undefined &&
    typeof token.expiresAt === "number" &&
    token.expiresAt - token.createdAt < SESSION_HOURS * 3_600_000;
  if (isSessionBound) printNote("It expires with your session. To create one that lasts longer, add -p.");
}

export async function tokenList(flags: Globals & { uid?: string; all?: boolean }): Promise<void> {
  const { tokens } = await withClient(flags, (client) => client.call("sys.token.list", parseUidFlag(flags)));
  if (flags.json) return printJson({ tokens });
  const now = Date.now();
  const shown = flags.all ? tokens : tokens.filter((token) => isTokenLive(token, now));
  printTable(
    ["ID", "UID", "KIND", "LABEL", "DEVICE", "CREATED", "USED", "EXPIRES"],
    shown.map((token) => [
      token.tokenId,
      token.uid,
      token.kind,
      textOrDash(token.label),
      textOrDash(token.allowedDeviceId),
      formatRelativeTime(token.createdAt, "-", now),
      formatRelativeTime(token.lastUsedAt, "never", now),
      token.revokedAt === null ? expiryColumn(token, now) : `revoked ${formatRelativeTime(token.revokedAt, "", now)}`,
    ]),
  );
  if (shown.length < tokens.length) printNote(`${tokens.length - shown.length} expired or revoked; to list them: --all`);
}

export async function tokenRevoke(flags: Globals & { reason?: string; uid?: string }, [tokenId = ""]: readonly string[]): Promise<void> {
  const args = { tokenId, ...(flags.reason === undefined ? {} : { reason: flags.reason }), ...parseUidFlag(flags) };
  const { revoked } = await withClient(flags, (client) => client.call("sys.token.revoke", args));
  if (flags.json) printJson({ revoked });
  if (!revoked) throw new Problem(`You have no token ${tokenId}: gsv token list shows your tokens`);
  printNote(`Revoked ${tokenId}; connections that used it are closed.`);
}

/** Whichever comes first: its expiry, or its end for lack of use. */
function expiryColumn({ expiresAt, endsUnusedAt = null }: TokenEnd, now: number): string {
  if (endsUnusedAt === null || (expiresAt !== null && expiresAt <= endsUnusedAt)) return formatRelativeTime(expiresAt, "never", now);
  return `${formatRelativeTime(endsUnusedAt, "", now)} if unused`;
}

function expiryText({ expiresAt, endsUnusedAt = null }: TokenEnd): string {
  return expiresAt === null && endsUnusedAt !== null
    ? "expires after a year without use"
    : `expires ${formatRelativeTime(expiresAt, "never")}`;
}

async function ownerName(client: Client, uid: number | undefined): Promise<string> {
  const { username, uid: own } = client.session.identity.process;
  if (uid === undefined || uid === own) return username;
  const { users } = await client.call("sys.user.list", {});
  return users.find((user) => user.uid === uid)?.username ?? String(uid);
}

function parseUidFlag({ uid }: { uid?: string }): { uid?: number } {
  if (uid === undefined) return {};
  if (!/^\d{1,9}$/.test(uid)) throw new Problem(`--uid must be a number: ${uid}. gsv user list shows the uids`);
  return { uid: Number(uid) };
}

function textOrDash(value: unknown): string {
  return typeof value === "string" ? value : "-";
}
