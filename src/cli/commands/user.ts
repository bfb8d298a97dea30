// gsv user: manages the users of a gateway.

import { askNewPassword, askSecret, isInteractive, readSecret } from "../terminal/ask.ts";
import { removeSession, updateConfig } from "../session/config-file.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, resolveGateway, withClient } from "../session/session.ts";
import { printNote, printJson, printTable } from "../terminal/terminal.ts";

type AddFlags = Globals & { newPassword?: string; name?: string; group?: string[] };
type PasswordFlags = Globals & { newPassword?: string; current?: string; revokeTokens?: boolean };

export async function userAdd(flags: AddFlags, [username = ""]: readonly string[]): Promise<void> {
  mustHavePassword(flags);
  const { user } = await withClient(flags, async (client) =>
    client.call("sys.user.create", {
      username,
      password: await readNewPassword(flags, username),
      ...(flags.name === undefined ? {} : { gecos: flags.name }),
      ...(flags.group === undefined ? {} : { groups: flags.group }),
    }),
  );
  if (flags.json) return printJson({ user });
  printNote(`Added ${user.username} (uid ${user.uid}, groups ${user.groups.join(", ") || "none"}).`);
}

export async function userList(flags: Globals): Promise<void> {
  const { users } = await withClient(flags, (client) => client.call("sys.user.list", {}));
  if (flags.json) return printJson({ users });
  printTable(
    ["UID", "USER", "NAME", "GROUPS", "HOME", "STATE"],
    users.map((user) => [
      user.uid,
      user.username,
      user.gecos || "-",
      user.groups.join(",") || "-",
      user.home,
      user.locked ? "locked" : "active",
    ]),
  );
}

export async function userPassword(flags: PasswordFlags, [name]: readonly string[]): Promise<void> {
  mustHavePassword(flags);
  await withClient(flags, async (client) => {
    const { uid, username: self } = client.session.identity.process;
    const username = name ?? self;
    const isOwn = username === self;
    const current =
      isOwn && uid !== 0 ? await readSecret("--current", flags.current ?? true, () => askSecret("Current password")) : undefined;
    const password = await readNewPassword(flags, username);
    const revokeTokens = flags.revokeTokens ?? false;
    await client.call("sys.user.password", { username, password, ...(current === undefined ? {} : { current }), revokeTokens });
    if (isOwn && revokeTokens) {
      const { address, config, saved } = resolveGateway(flags);
      if (saved.username === self) updateConfig(config.file, (table) => removeSession(table, address.origin));
    }
    printNote(
      `Changed the password of ${username}.${revokeTokens ? " All their tokens are revoked." : " Tokens stay valid; to revoke them too: --revoke-tokens."}`,
    );
  });
}

export async function userLock(flags: Globals, [username = ""]: readonly string[], locked: boolean): Promise<void> {
  await withClient(flags, (client) => client.call("sys.user.lock", { username, locked }));
  printNote(locked ? `${username} is locked; their connections are closed.` : `${username} can log in again.`);
}

/** Checked before the login, so that no command stops halfway for lack of a password. */
function mustHavePassword(flags: { newPassword?: string }): void {
  if (flags.newPassword === undefined && !isInteractive())
    throw new Problem("No terminal to prompt at: add --new-password - to read it from standard input");
}

function readNewPassword(flags: { newPassword?: string }, username: string): Promise<string> {
  return readSecret("--new-password", flags.newPassword ?? true, () => askNewPassword(`New password for ${username}`));
}
