// The CLI's own configuration: a private TOML file with the gateway's address and the credentials of logins. Credentials are
// stored by exact origin: those of `gateway` belong to the origin of gateway.url, those of any other gateway are in
// gateways."<origin>". Nothing here talks to a gateway.

import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { parse, stringify, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { replaceFile } from "../../hosts/shared/own-files.ts";
import { DEFAULT_URL, parseGatewayAddress } from "./address.ts";
import { Problem } from "../terminal/problem.ts";

export type Credentials = {
  username?: string;
  /** Set by the user. */
  token?: string;
  /** Set by a login; session_origin names its gateway, in case gateway.url is edited by hand afterwards. */
  session_token?: string;
  session_token_id?: string;
  session_expires_at?: number;
  session_origin?: string;
};

/** What makes this machine a device. `url` and `username` are its gateway and owner, independent of `gateway`. */
export type DeviceSettings = { id?: string; token?: string; workspace?: string; url?: string; username?: string };

export type LocalConfig = {
  file: string;
  table: TomlTable;
  /** Null if the file is private, else its mode. */
  looseMode: string | null;
};

export const CREDENTIAL_FIELDS = [
  "username",
  "token",
  "session_token",
  "session_token_id",
  "session_expires_at",
  "session_origin",
] as const;
const DEVICE_FIELDS = ["id", "token", "workspace", "url", "username"] as const;
const SESSION_FIELDS = ["session_token", "session_token_id", "session_expires_at", "session_origin"] as const;

export function configPath(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (env.GSV_CONFIG) return env.GSV_CONFIG;
  return join(configFolder(env, platform), "gsv", "config.toml");
}

/** A missing file reads as an empty one. */
export function readConfig(file: string): LocalConfig {
  let text: string;
  let mode = 0o600;
  try {
    text = readFileSync(file, "utf8");
    if (process.platform !== "win32") mode = statSync(file).mode & 0o777;
  } catch (error) {
    if (isMissing(error)) return { file, table: {}, looseMode: null };
    throw new Problem(`Cannot read ${file}: ${errorMessage(error)}`);
  }
  const looseMode = (mode & 0o077) === 0 ? null : mode.toString(8).padStart(3, "0");
  try {
    return { file, table: parse(text), looseMode };
  } catch (error) {
    // The parser's own message quotes the line, and the line may hold a secret.
    const where = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : "";
    throw new Problem(`${file} is not valid TOML${where}: fix it, or delete it and log in again`);
  }
}

/** Reads the file again, changes it and replaces it atomically; it is private from the first byte. */
export function updateConfig(file: string, change: (table: TomlTable) => void): void {
  const { table } = readConfig(file);
  change(table);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const target = realFile(file);
    replaceFile(target, stringify(table), { isSynced: true });
  } catch (error) {
    throw new Problem(`Cannot write ${file}: ${errorMessage(error)}`);
  }
}

/** The address to use if neither a flag nor the environment names one. */
export function configuredUrl(table: TomlTable): string {
  return stringOrUndefined(tableAt(table, "gateway")?.url) ?? DEFAULT_URL;
}

/** What is stored for exactly this origin, without secrets if other users could have read them. */
export function credentialsFor({ table, looseMode }: LocalConfig, origin: string): Credentials {
  const stored = findGatewaySection(table, origin);
  const username = stringOrUndefined(stored?.username);
  const found: Credentials = username === undefined ? {} : { username };
  if (stored === undefined || looseMode !== null) return found;
  const token = stringOrUndefined(stored.token);
  if (token !== undefined) found.token = token;
  const session = stringOrUndefined(stored.session_token);
  const sessionOrigin = stringOrUndefined(stored.session_origin) ?? origin;
  if (session === undefined || sessionOrigin !== origin) return found;
  const sessionId = stringOrUndefined(stored.session_token_id);
  const expiresAt = stored.session_expires_at;
  return {
    ...found,
    session_token: session,
    ...(sessionId === undefined ? {} : { session_token_id: sessionId }),
    ...(typeof expiresAt === "number" ? { session_expires_at: expiresAt } : {}),
    session_origin: origin,
  };
}

/** Whether credentialsFor withholds secrets of this origin. */
export function hasIgnoredSecrets({ table, looseMode }: LocalConfig, origin: string): boolean {
  const stored = findGatewaySection(table, origin);
  return looseMode !== null && (stringOrUndefined(stored?.token) !== undefined || stringOrUndefined(stored?.session_token) !== undefined);
}

export function setSession(table: TomlTable, origin: string, session: Credentials): void {
  const section = findGatewaySection(table, origin) ?? addGatewaySection(table, origin);
  for (const [name, value] of Object.entries(session)) section[name] = value;
}

export function removeSession(table: TomlTable, origin: string): void {
  const section = findGatewaySection(table, origin);
  if (section !== undefined) for (const field of SESSION_FIELDS) delete section[field];
}

/** The token is withheld, like others, if other users can read the file. */
export function deviceSettings({ table, looseMode }: LocalConfig): DeviceSettings {
  const stored = tableAt(table, "node") ?? {};
  const found = DEVICE_FIELDS.map((name) => [name, stringOrUndefined(stored[name])] as const);
  return Object.fromEntries(found.filter(([name, value]) => value !== undefined && (name !== "token" || looseMode === null)));
}

export function setDevice(table: TomlTable, settings: DeviceSettings): void {
  table.node = { ...tableAt(table, "node"), ...settings };
}

/** A new address must not inherit the old one's credentials: those move to `gateways`, and those stored for the new one move in. */
export function setGatewayUrl(table: TomlTable, url: string): void {
  const { origin } = parseGatewayAddress(url);
  const gateway = (table.gateway = tableAt(table, "gateway") ?? {});
  const before = gatewayOrigin(table);
  if (before !== origin) {
    const oldCredentials = takeCredentials(gateway);
    const gateways = tableAt(table, "gateways") ?? {};
    const newCredentials = tableAt(gateways, origin) ?? {};
    delete gateways[origin];
    if (before !== null && Object.keys(oldCredentials).length > 0) gateways[before] = { ...tableAt(gateways, before), ...oldCredentials };
    Object.assign(gateway, takeCredentials(newCredentials));
    if (Object.keys(gateways).length > 0) table.gateways = gateways;
    else delete table.gateways;
  }
  gateway.url = url;
}

export function tableAt(table: TomlTable, name: string): TomlTable | undefined {
  const value: TomlValue | undefined = Object.hasOwn(table, name) ? table[name] : undefined;
  return typeof value === "object" && !Array.isArray(value) && !(value instanceof Date) ? value : undefined;
}

function configFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const home = env.HOME || homedir();
  if (platform === "win32") return env.APPDATA || join(homedir(), "AppData", "Roaming");
  if (env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME)) return env.XDG_CONFIG_HOME;
  return platform === "darwin" ? join(home, "Library", "Application Support") : join(home, ".config");
}

/** A configuration that is a symlink stays one. */
function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (isMissing(error)) return file;
    throw error;
  }
}

function findGatewaySection(table: TomlTable, origin: string): TomlTable | undefined {
  if (gatewayOrigin(table) === origin) return tableAt(table, "gateway");
  const gateways = tableAt(table, "gateways");
  return gateways === undefined ? undefined : tableAt(gateways, origin);
}

function addGatewaySection(table: TomlTable, origin: string): TomlTable {
  const section: TomlTable = {};
  if (gatewayOrigin(table) === origin) table.gateway = section;
  else table.gateways = { ...tableAt(table, "gateways"), [origin]: section };
  return section;
}

/** Null if gateway.url is invalid: no credentials belong to it then. */
function gatewayOrigin(table: TomlTable): string | null {
  try {
    return parseGatewayAddress(configuredUrl(table)).origin;
  } catch {
    return null;
  }
}

/** Removes the credential fields from a section and returns them. */
function takeCredentials(section: TomlTable): TomlTable {
  const credentials: TomlTable = {};
  for (const field of CREDENTIAL_FIELDS) {
    const value = section[field];
    if (value !== undefined) credentials[field] = value;
    delete section[field];
  }
  return credentials;
}

function stringOrUndefined(value: TomlValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
