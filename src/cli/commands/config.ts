// gsv config: reads and writes the gateway's configuration, or with --local the CLI's own file. Secrets are masked by default.

import type { TomlTable, TomlValue } from "smol-toml";
import { parseGatewayAddress } from "../session/address.ts";
import { askSecret, isInteractive, readStdinRest } from "../terminal/ask.ts";
import { configPath, CREDENTIAL_FIELDS, readConfig, setGatewayUrl, tableAt, updateConfig } from "../session/config-file.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printText, printJson } from "../terminal/terminal.ts";

type Flags = Globals & { local?: boolean; reveal?: boolean };
type Entry = { key: string; value: string; problem?: string | undefined };

/** The sections the file may have, of this CLI and of later commands. */
const SECTIONS = ["gateway", "gateways", "cloudflare", "release", "r2", "node", "session", "channels"];
const SETTABLE = ["url", "username", "token"];
const SECRET = /(^|[._/])(api_key|secret|token|password|secret_access_key|session_token)$|_(api_key|secret|token|password)$/;

export async function configGet(flags: Flags, [key]: readonly string[]): Promise<void> {
  const entries = flags.local ? localEntries(key) : await remoteEntries(flags, key);
  const shown = flags.reveal ? entries : entries.map((entry) => ({ ...entry, value: maskSecret(entry) }));
  if (flags.json) return printJson({ entries: shown });
  const [only] = shown;
  if (only !== undefined && shown.length === 1 && only.key === key) return printText(only.value);
  if (only === undefined) throw new Problem(key === undefined ? "Nothing is set" : `Not set: ${key}`);
  for (const entry of shown) printText(`${entry.key} = ${entry.problem === undefined ? entry.value : `(${entry.problem})`}`);
}

export async function configSet(flags: Flags, [key = "", given]: readonly string[]): Promise<void> {
  const value = await readValue(key, given);
  if (flags.local) setLocalValue(key, value);
  else await withClient(flags, (client) => client.call("sys.config.set", { key, value }));
  printNote(`Set ${key}.`);
}

export async function configUnset(flags: Flags, [key = ""]: readonly string[]): Promise<void> {
  if (flags.local) return unsetLocalValue(key);
  const { wasSet, entries } = await withClient(flags, async (client) => ({
    ...(await client.call("sys.config.unset", { key })),
    ...(await client.call("sys.config.get", { key })),
  }));
  const hasDefault = entries.some((entry) => entry.key === key);
  if (!wasSet) throw new Problem(`Not set: ${key}${hasDefault ? "; it has its default" : ""}`);
  printNote(hasDefault ? `Unset ${key}: the default applies again.` : `Unset ${key}.`);
}

async function remoteEntries(flags: Flags, key: string | undefined): Promise<Entry[]> {
  return withClient(flags, async (client) => (await client.call("sys.config.get", key === undefined ? {} : { key })).entries);
}

function localEntries(key: string | undefined): Entry[] {
  const all = flatten(readConfig(configPath()).table, []);
  return key === undefined ? all : all.filter((entry) => entry.key === key || entry.key.startsWith(`${key}.`));
}

function flatten(table: TomlTable, path: readonly string[]): Entry[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const here = [...path, /^[\w-]+$/.test(name) ? name : JSON.stringify(name)];
    const below = tableAt(table, name);
    return below === undefined ? [{ key: here.join("."), value: valueText(value) }] : flatten(below, here);
  });
}

function valueText(value: TomlValue): string {
  return typeof value === "string" ? value : value instanceof Date ? value.toISOString() : (JSON.stringify(value) ?? "");
}

/** A value of `-`, or none, is asked for or read from standard input: other users of the machine can see the command line. */
async function readValue(key: string, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== "-") return given;
  if (isInteractive()) return askSecret(`Value for ${key}`);
  if (given === undefined) throw new Problem(`No value for ${key}: add one, or - to read it from standard input`);
  return (await readStdinRest()).replace(/\r?\n$/, "");
}

function setLocalValue(key: string, value: string): void {
  const path = parseKey(key);
  const [section = "", ...rest] = path;
  const field = rest.at(-1) ?? "";
  if (!SECTIONS.includes(section) || rest.length === 0)
    throw new Problem(`No such key: ${key}. Keys start with one of: ${SECTIONS.map((name) => `${name}.`).join(" ")}`);
  if (section === "gateway" || section === "gateways") {
    const depth = section === "gateway" ? 1 : 2;
    if (rest.length !== depth || !SETTABLE.includes(field) || (depth === 2 && field === "url")) {
      const isManaged = CREDENTIAL_FIELDS.some((name) => name === field && field.startsWith("session_"));
      throw new Problem(
        isManaged ? `${key} is managed by gsv auth login` : `No such key: ${key}. Use gateway.url, gateway.username or gateway.token`,
      );
    }
    if (depth === 2) mustBeOrigin(rest[0] ?? "");
  }
  updateConfig(configPath(), (table) => {
    if (key === "gateway.url") setGatewayUrl(table, value);
    else setAt(table, path, value);
  });
}

function unsetLocalValue(key: string): void {
  const path = parseKey(key);
  const field = path.at(-1) ?? "";
  if (CREDENTIAL_FIELDS.some((name) => name === field && field.startsWith("session_")))
    throw new Problem(`${key} is managed by gsv auth logout`);
  let wasSet = false;
  updateConfig(configPath(), (table) => {
    const parent = path.slice(0, -1).reduce<TomlTable | undefined>((above, name) => above && tableAt(above, name), table);
    if (parent === undefined || !Object.hasOwn(parent, field) || tableAt(parent, field) !== undefined) return;
    delete parent[field];
    wasSet = true;
  });
  if (!wasSet) throw new Problem(`Not set: ${key}`);
  printNote(`Unset ${key}.`);
}

function mustBeOrigin(text: string): void {
  const { origin } = parseGatewayAddress(text);
  if (origin !== text) throw new Problem(`Gateways are stored by origin: write gateways."${origin}"`);
}

function setAt(table: TomlTable, path: readonly string[], value: string): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    table[name] = value;
    return;
  }
  const below = tableAt(table, name) ?? {};
  table[name] = below;
  setAt(below, rest, value);
}

/** Splits a key: gateways."wss://gsv.example.com".token has three segments. */
function parseKey(key: string): string[] {
  const found = key.match(/"[^"]*"|[^."]+/g) ?? [];
  const path = found.map((part) => part.replace(/^"|"$/g, ""));
  const rejoined = found.join(".");
  if (rejoined !== key || path.some((part) => part === "" || part === "__proto__")) throw new Problem(`Invalid key: ${key}`);
  return path;
}

function maskSecret({ key, value }: Entry): string {
  if (!SECRET.test(key) || value === "") return value;
  return value.length > 20 ? `${value.slice(0, 8)}... (hidden; --reveal shows it)` : "(hidden; --reveal shows it)";
}
