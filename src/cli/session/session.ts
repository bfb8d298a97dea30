// Authenticates the CLI at a gateway: picks the credential, logs in if there is none, and stores the session of a login. A stored
// credential goes only to the origin it was created at; one that the user gave (--token, GSV_TOKEN) goes where they said.

import { CallError, type Client, connect, ConnectionLost } from "../../client/client.ts";
import { makeHasher } from "../../hosts/shared/crypto.ts";
import { VERSION } from "../../protocol/version.ts";
import { type Address, parseGatewayAddress } from "./address.ts";
import {
  configPath,
  configuredUrl,
  type Credentials,
  credentialsFor,
  removeSession,
  hasIgnoredSecrets,
  setSession,
  type LocalConfig,
  readConfig,
  setGatewayUrl,
  tableAt,
  updateConfig,
} from "./config-file.ts";
import { fetchHealth } from "./health.ts";
import { Problem } from "../terminal/problem.ts";
import { loadSocketConstructor } from "./socket.ts";
import { systemName, systemUser } from "../device/system.ts";
import { printNote } from "../terminal/terminal.ts";

/** The close code for a credential that is no longer valid. */
const CREDENTIAL_ENDED = 1008;

/** The flags every command takes. */
export type Globals = {
  url?: string;
  user?: string;
  /** True for the flag without a value. */
  password?: string | true;
  token?: string;
  json?: boolean;
};

export type GatewayAccess = { config: LocalConfig; address: Address; saved: Credentials };

/** A credential that needs no prompt. */
export type TokenCredential = { auth: { username: string; token: string }; from: "given" | "session" | "config" };

export const SESSION_HOURS = 8;

/** The gateway to use, and what is stored for it. */
export function resolveGateway(globals: Globals, file = configPath()): GatewayAccess {
  const config = readConfig(file);
  const address = parseGatewayAddress(globals.url || configuredUrl(config.table));
  if (hasIgnoredSecrets(config, address.origin)) {
    printNote(`gsv: warning: ${config.file} has mode ${config.looseMode}, so the token in it is not used. Run: chmod 600 ${config.file}`);
  }
  return { config, address, saved: credentialsFor(config, address.origin) };
}

export function findCredential(globals: Globals, { saved }: GatewayAccess, now = Date.now()): TokenCredential | null {
  const username = globals.user || saved.username;
  if (globals.token) {
    if (username === undefined) throw new Problem("The owner of the token is not known: add --user NAME");
    return { auth: { username, token: globals.token }, from: "given" };
  }
  // A stored token belongs to its owner; the gateway would refuse it for another user.
  if (username === undefined || username !== saved.username) return null;
  const { session_token: session, session_expires_at: expiresAt = Infinity, token } = saved;
  if (session !== undefined && expiresAt > now) return { auth: { username, token: session }, from: "session" };
  return token === undefined ? null : { auth: { username, token }, from: "config" };
}

/** A password for this one command, from the flag or a prompt. */
export type PasswordCredential = { auth: { username: string; password: string }; from: "given" };

export async function resolvePasswordCredential(globals: Globals, { address, saved }: GatewayAccess): Promise<PasswordCredential> {
  refuseTokenWithPassword(globals);
  const username = globals.user || saved.username;
  if (username === undefined) throw new Problem("No user name: add --user NAME");
  return { auth: { username, password: await readPassword(username, globals, address) }, from: "given" };
}

function refuseTokenWithPassword({ token, password }: Globals): void {
  if (token && password !== undefined) throw new Problem("Use either a token or a password, not both");
}

/** Runs `work` with a connected client and closes it. */
export async function withClient<T>(globals: Globals, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await authenticate(globals);
  try {
    return await work(client);
  } catch (error) {
    throw error instanceof CallError ? await (await import("../device/no-such-device.ts")).explainDeviceError(client, error) : error;
  } finally {
    client.close();
  }
}

/** Logs in with the first of: a given token, the stored session, the stored token, a password that is given or asked for. */
export async function authenticate(globals: Globals, file = configPath()): Promise<Client> {
  refuseTokenWithPassword(globals);
  const place = resolveGateway(globals, file);
  const known = globals.password === undefined ? findCredential(globals, place) : null;
  if (known !== null) {
    try {
      return await openClient(place.address, known.auth);
    } catch (error) {
      if (hasCode(error, 425)) return setUpAndLogIn(globals, place);
      if (!hasCode(error, 401) || known.from === "given") throw error;
      if (known.from === "config") throw new Problem(`The token in ${file} was refused: replace or remove gateway.token there`);
      updateConfig(file, (table) => removeSession(table, place.address.origin));
      printNote("gsv: the session is no longer valid; logging in again");
    }
  }
  return login(globals, place, { switchUser: false });
}

export type LoginOptions = {
  /** Replaces the stored login; a single command as another user does not. */
  switchUser: boolean;
  hours?: number;
};

/** Logs in with a password, given or asked for, and stores a session so that the next command needs none. */
export async function login(globals: Globals, place: GatewayAccess, options: LoginOptions): Promise<Client> {
  const { address, saved } = place;
  // Before the user types a password, check that a gateway answers and has users.
  if ((await fetchHealth(address)).setupMode) return setUpAndLogIn(globals, place);
  const { askText, isInteractive } = await import("../terminal/ask.ts");
  if (globals.password === undefined && !isInteractive()) {
    throw new Problem(`Not logged in at ${address.origin}: run gsv auth login, or use --token or --password -`);
  }
  let username = globals.user || saved.username;
  if (username === undefined || (options.switchUser && !globals.user && isInteractive())) {
    if (!isInteractive()) throw new Problem("No user name: add --user NAME");
    username = await askText(`User name at ${address.origin}`, username ?? systemUser());
  }
  return authenticateWithPassword(place, { username, password: await readPassword(username, globals, address) }, options);
}

async function readPassword(username: string, globals: Globals, address: Address): Promise<string> {
  if (!address.isLocal && !address.isEncrypted) {
    printNote(
      `gsv: warning: ${address.origin} is not encrypted; unless the network itself is (such as a VPN), others can read the password`,
    );
  }
  const { askSecret, readSecret } = await import("../terminal/ask.ts");
  return readSecret("--password", globals.password ?? true, () => askSecret(`Password for ${username} at ${address.origin}`));
}

export async function authenticateWithPassword(
  place: GatewayAccess,
  auth: { username: string; password: string },
  { switchUser, hours = SESSION_HOURS }: LoginOptions,
): Promise<Client> {
  const client = await openClient(place.address, auth);
  const owner = place.saved.username;
  if (switchUser || owner === undefined || owner === auth.username) await storeSession(client, place, auth.username, hours);
  else printNote(`gsv: using ${auth.username} for this command; you stay logged in as ${owner}`);
  return client;
}

/** The first gateway that a user logs in to becomes their default. */
export function rememberUrl(globals: Globals, { config, address }: GatewayAccess): void {
  if (!globals.url || tableAt(config.table, "gateway")?.url !== undefined) return;
  updateConfig(config.file, (table) => setGatewayUrl(table, address.url));
  printNote(`gsv: ${address.url} is now your default gateway; to change it: gsv config --local set gateway.url URL`);
}

export async function openClient(
  address: Address,
  auth: { username: string; password: string } | { username: string; token: string },
): Promise<Client> {
  const client = { id: `gsv-cli-${crypto.randomUUID()}`, version: VERSION, platform: systemName() };
  try {
    return await connect({
      url: address.url,
      auth,
      client,
      reconnect: false,
      newHash: makeHasher,
      WebSocket: await loadSocketConstructor(),
    });
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
    // A WebSocket does not report why it failed to open; an HTTP request does.
    await fetchHealth(address);
    throw new Problem(`${address.url} responds but refuses the connection: ${error.message}`);
  }
}

export function hasCode(error: unknown, code: number): error is CallError {
  return error instanceof CallError && error.code === code;
}

async function storeSession(client: Client, { config, address, saved }: GatewayAccess, username: string, hours: number): Promise<void> {
  try {
    // The replaced session would stay valid unnoticed. Revoking it fails if it has ended or its user is locked: then it is over.
    await revokeSession(address, saved).catch(() => false);
    const expiresAt = Date.now() + hours * 3_600_000;
    const { token } = await client.call("sys.token.create", { kind: "user", label: `gsv-cli@${systemName()}`, expiresAt });
    updateConfig(config.file, (table) =>
      setSession(table, address.origin, {
        username,
        session_token: token.token,
        session_token_id: token.tokenId,
        session_expires_at: expiresAt,
        session_origin: address.origin,
      }),
    );
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    printNote(`gsv: the session could not be stored for the next command: ${error.message} (${error.code})`);
  }
}

async function setUpAndLogIn(globals: Globals, place: GatewayAccess): Promise<Client> {
  const { askYesNo, isInteractive } = await import("../terminal/ask.ts");
  const missing = `The gateway at ${place.address.origin} has no user yet: run gsv auth setup`;
  if (!isInteractive()) throw new Problem(missing);
  if (!(await askYesNo(`The gateway at ${place.address.origin} has no user yet. Set it up now?`))) throw new Problem(missing);
  const { setUp } = await import("./setup.ts");
  const { username, password } = await setUp(place.address, globals.user ? { username: globals.user } : {});
  const client = await authenticateWithPassword(place, { username, password }, { switchUser: true });
  rememberUrl(globals, place);
  return client;
}

/** Revokes the stored session at the gateway. */
export async function revokeSession(address: Address, saved: Credentials): Promise<boolean> {
  const { username, session_token: token, session_token_id: tokenId } = saved;
  if (username === undefined || token === undefined || tokenId === undefined) return false;
  const client = await openClient(address, { username, token });
  try {
    return (await client.call("sys.token.revoke", { tokenId, reason: "logged out" })).revoked;
  } catch (error) {
    // Revoking the token of this connection closes it, and the answer may lose that race.
    if (error instanceof ConnectionLost && error.code === CREDENTIAL_ENDED) return true;
    throw error;
  } finally {
    client.close();
  }
}
