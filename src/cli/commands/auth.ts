// gsv auth setup, login and logout.

import { removeSession, updateConfig } from "../session/config-file.ts";
import { fetchHealth } from "../session/health.ts";
import { formatRelativeTime } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import {
  authenticateWithPassword,
  type Globals,
  resolveGateway,
  login as logIn,
  rememberUrl,
  revokeSession,
  SESSION_HOURS,
} from "../session/session.ts";
import { setUp, type SetupFlags } from "../session/setup.ts";
import { printNote, printText, printJson } from "../terminal/terminal.ts";

export async function setup(flags: Globals & SetupFlags): Promise<void> {
  const place = resolveGateway(flags);
  const { origin } = place.address;
  if (!(await fetchHealth(place.address)).setupMode) throw new Problem(`${origin} is already set up: run gsv auth login`);
  const requestedName = flags.username ?? flags.user;
  const { username, password, result } = await setUp(
    place.address,
    requestedName === undefined ? flags : { ...flags, username: requestedName },
  );
  const client = await authenticateWithPassword(place, { username, password }, { switchUser: true });
  client.close();
  rememberUrl(flags, place);
  printNote(`Setup is complete. You are logged in at ${origin} as ${username} for ${SESSION_HOURS} hours.`);
  printNote("Next: gsv chat talks to your agent, gsv help lists all commands, gsv -u root user add NAME adds another user.");
  if (flags.json) printJson(result);
  else if (result.nodeToken !== undefined) {
    printNote(
      `Token for device ${String(result.nodeToken.allowedDeviceId)}; it is not shown again. The device must connect within an hour:`,
    );
    printText(result.nodeToken.token);
  }
}

export async function login(flags: Globals & { username?: string; ttlHours?: string }): Promise<void> {
  const hours = Number(flags.ttlHours ?? SESSION_HOURS);
  if (!(hours > 0 && hours <= 24 * 365)) throw new Problem(`--ttl-hours must be a number of hours, up to a year: ${flags.ttlHours}`);
  if (flags.token)
    throw new Problem("A token needs no login: use it with --token or GSV_TOKEN, or store it with gsv config --local set gateway.token -");
  const place = resolveGateway(flags);
  const user = flags.user ?? flags.username;
  const client = await logIn(user === undefined ? flags : { ...flags, user }, place, { switchUser: true, hours });
  const { username } = client.session.identity.process;
  client.close();
  rememberUrl(flags, place);
  printNote(`Logged in as ${username} at ${place.address.origin} for ${hours} hours.`);
}

export async function logout(flags: Globals): Promise<void> {
  const { address, config, saved } = resolveGateway(flags);
  // Continues if the file's mode kept the session from being used: a removed session cannot leak.
  if (saved.session_token === undefined && config.looseMode === null) {
    printNote(`Not logged in at ${address.origin}.`);
    return;
  }
  const revoked = await revokeSession(address, saved).catch((error: unknown) => {
    const ends = formatRelativeTime(saved.session_expires_at, "automatically");
    printNote(`gsv: the session could not be revoked (${error instanceof Error ? error.message : String(error)}); it expires ${ends}`);
    return false;
  });
  updateConfig(config.file, (table) => removeSession(table, address.origin));
  printNote(revoked ? `Logged out at ${address.origin}; the session is revoked.` : `Logged out at ${address.origin}.`);
  if (saved.token !== undefined) printNote(`gateway.token in ${config.file} is kept and still used.`);
}
