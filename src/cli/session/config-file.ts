// The CLI's own configuration: a private TOML file with the gateway's address and what was learned by logging in.
// Credentials are kept by exact origin: those of `gateway` belong to the origin of gateway.url, those of any other gateway
// are in gateways."<origin>". Nothing here talks to a gateway.

import { mkdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { parse, stringify, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { replaceFile } from "../../hosts/node/own-files.ts";
import { DEFAULT_URL, gatewayAddress } from "./address.ts";
import { Problem } from "../terminal/problem.ts";

export type Credentials = {
  username?: string;
  /** Put there by the user. */
  token?: string;
  /** Put there by a login; session_origin says at which gateway, in case gateway.url is edited by hand afterwards. */
  session_token?: string;
  session_token_id?: string;
  session_expires_at?: number;
  session_origin?: string;
};

/** What makes this machine a device. `url` and `username` say at which gateway and whose, whatever `gateway` says by then. */
export type DeviceSettings = { id?: string; token?: string; workspace?: string; url?: string; username?: string };

export type LocalConfig = {
  file: string;
  table: TomlTable;
  /** Null where the file is private, else its mode. */
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

/** A file that is not there is an empty one. */
export function readConfig(file: string): LocalConfig {
  let text: string;
  let mode = 0o600;
  try {
    text = readFileSync(file, "utf8");
    if (process.platform !== "win32") mode = statSync(file).mode & 0o777;
  } catch (error) {
    if (isMissing(error)) return { file, table: {}, looseMode: null };
    throw new Problem(`Cannot read ${file}: ${reason(error)}`);
  }
  const looseMode = (mode & 0o077) === 0 ? null : mode.toString(8).padStart(3, "0");
  try {
    return { file, table: parse(text), looseMode };
  } catch (error) {
    // The parser's own message quotes the line, and the line may hold a secret.
    const where = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : "";
    throw new Problem(`${file} is not valid TOML${where}: correct it, or remove it and log in again`);
  }
}

/** Reads the file anew, changes it and puts it in place in one step, private from the first byte on. */
export function updateConfig(file: string, change: (table: TomlTable) => void): void {
  const { table } = readConfig(file);
  change(table);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const target = realFile(file);
    replaceFile(target, stringify(table), { isSynced: true });
  } catch (error) {
    throw new Problem(`Cannot write ${file}: ${reason(error)}`);
  }
}

/** The address to use where neither a flag nor the environment names one. */
export function configuredUrl(table: TomlTable): string {
  return text(tableAt(table, "gateway")?.url) ?? DEFAULT_URL;
}

/** What is kept for exactly this origin; without secrets where others could have read them. */
export function credentialsFor({ table, looseMode }: LocalConfig, origin: string): Credentials {
  const kept = sectionOf(table, origin);
  const username = text(kept?.username);
  const found: Credentials = username === undefined ? {} : { username };
  if (kept === undefined || looseMode !== null) return found;
  const token = text(kept.token);
  if (token !== undefined) found.token = token;
  const session = text(kept.session_token);
  const sessionOrigin = text(kept.session_origin) ?? origin;
  if (session === undefined || sessionOrigin !== origin) return found;
  const sessionId = text(kept.session_token_id);
  const expiresAt = kept.session_expires_at;
  return {
    ...found,
    session_token: session,
    ...(sessionId === undefined ? {} : { session_token_id: sessionId }),
    ...(typeof expiresAt === "number" ? { session_expires_at: expiresAt } : {}),
    session_origin: origin,
  };
}

/** Whether there are secrets for this origin that credentialsFor held back. */
export function hasIgnoredSecrets({ table, looseMode }: LocalConfig, origin: string): boolean {
  const kept = sectionOf(table, origin);
  return looseMode !== null && (text(kept?.token) !== undefined || text(kept?.session_token) !== undefined);
}

export function keepSession(table: TomlTable, origin: string, session: Credentials): void {
  const section = sectionOf(table, origin) ?? newSection(table, origin);
  for (const [name, value] of Object.entries(session)) section[name] = value;
}

export function dropSession(table: TomlTable, origin: string): void {
  const section = sectionOf(table, origin);
  if (section !== undefined) for (const field of SESSION_FIELDS) delete section[field];
}

/** The token is held back, like others, where more than the owner can read the file. */
export function deviceSettings({ table, looseMode }: LocalConfig): DeviceSettings {
  const kept = tableAt(table, "node") ?? {};
  const found = DEVICE_FIELDS.map((name) => [name, text(kept[name])] as const);
  return Object.fromEntries(found.filter(([name, value]) => value !== undefined && (name !== "token" || looseMode === null)));
}

export function keepDevice(table: TomlTable, settings: DeviceSettings): void {
  table.node = { ...tableAt(table, "node"), ...settings };
}

/** Another address in gateway.url must not inherit what belongs to the old one: it moves, and what is kept for the new one moves in. */
export function setGatewayUrl(table: TomlTable, url: string): void {
  const { origin } = gatewayAddress(url);
  const gateway = (table.gateway = tableAt(table, "gateway") ?? {});
  const before = gatewayOrigin(table);
  if (before !== origin) {
    const leaving = take(gateway);
    const gateways = tableAt(table, "gateways") ?? {};
    const arriving = tableAt(gateways, origin) ?? {};
    delete gateways[origin];
    if (before !== null && Object.keys(leaving).length > 0) gateways[before] = { ...tableAt(gateways, before), ...leaving };
    Object.assign(gateway, take(arriving));
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

/** A configuration kept elsewhere and linked to stays a link. */
function realFile(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (isMissing(error)) return file;
    throw error;
  }
}

function sectionOf(table: TomlTable, origin: string): TomlTable | undefined {
  if (gatewayOrigin(table) === origin) return tableAt(table, "gateway");
  const gateways = tableAt(table, "gateways");
  return gateways === undefined ? undefined : tableAt(gateways, origin);
}

function newSection(table: TomlTable, origin: string): TomlTable {
  const section: TomlTable = {};
  if (gatewayOrigin(table) === origin) table.gateway = section;
  else table.gateways = { ...tableAt(table, "gateways"), [origin]: section };
  return section;
}

/** Null where gateway.url is not one that would be used: nothing then belongs to it. */
function gatewayOrigin(table: TomlTable): string | null {
  try {
    return gatewayAddress(configuredUrl(table)).origin;
  } catch {
    return null;
  }
}

/** Removes the credential fields from a section and returns them. */
function take(section: TomlTable): TomlTable {
  const taken: TomlTable = {};
  for (const field of CREDENTIAL_FIELDS) {
    const value = section[field];
    if (value !== undefined) taken[field] = value;
    delete section[field];
  }
  return taken;
}

function text(value: TomlValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
