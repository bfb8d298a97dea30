// Creates the first user of a fresh gateway: collects the values, asks for missing ones if there is a terminal, and calls
// sys.setup. Secrets are never shown.

import { type CallResult, type Arguments, CallError, Connection } from "../../client/connection.ts";
import { LINE_WORKS_MS } from "../../lib/install-line.ts";
import { NAME } from "../../lib/name.ts";
import { isTimezone } from "../../lib/timezone.ts";
import type { Address } from "./address.ts";
import { askNewPassword, askSecret, askText, askYesNo, isInteractive, readSecret } from "../terminal/ask.ts";
import { fetchHealth } from "./health.ts";
import { parseExpiry } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { loadSocketConstructor } from "./socket.ts";
import { systemUser } from "../device/system.ts";

export type SetupFlags = {
  username?: string;
  newPassword?: string;
  rootPassword?: string;
  timezone?: string;
  aiProvider?: string;
  aiModel?: string;
  aiApiKey?: string;
  nodeId?: string;
  nodeLabel?: string;
  nodeExpiresAt?: string;
  code?: string;
};

type SetupArgs = Arguments<"sys.setup">;
export type SetupResult = { username: string; password: string; result: CallResult<"sys.setup"> };

const CALL_MS = 30_000;

export async function setUp(address: Address, flags: SetupFlags): Promise<SetupResult> {
  const args = isInteractive() ? await askArgs(address, flags) : await argsFromFlags(flags);
  const connection = await Connection.open(address.url, await loadSocketConstructor());
  try {
    return { username: args.username, password: args.password, result: await callSetup(connection, args) };
  } catch (error) {
    // 409 also means that the name is taken.
    if (error instanceof CallError && error.code === 409 && !(await fetchHealth(address)).setupMode)
      throw new Problem(`${address.origin} is already set up: run gsv auth login`);
    throw error;
  } finally {
    connection.close();
  }
}

/** Only a gateway that others can reach requires the code from its console; it answers 403 without it. */
async function callSetup(connection: Connection, args: SetupArgs): Promise<CallResult<"sys.setup">> {
  try {
    return await connection.call("sys.setup", args, { timeoutMs: CALL_MS });
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 403) throw error;
    if (!isInteractive()) throw new Problem("Other machines can reach this gateway: add --code with the setup code that it printed");
    const code = await askText(args.code === undefined ? "Setup code, printed by the gateway" : "Wrong code. Setup code");
    return callSetup(connection, { ...args, code });
  }
}

async function argsFromFlags(flags: SetupFlags): Promise<SetupArgs> {
  const { username, newPassword } = flags;
  if (!username || newPassword === undefined) {
    const missing = [username ? "" : "--username NAME", newPassword === undefined ? "--new-password - (read from standard input)" : ""];
    throw new Problem(`No terminal to prompt at: add ${missing.filter(Boolean).join(" and ")}`);
  }
  if (flags.aiProvider && !flags.aiModel) throw new Problem("--ai-provider needs --ai-model");
  const password = await readSecret("--new-password", newPassword, refuseToAsk);
  const rootPassword = flags.rootPassword === undefined ? undefined : await readSecret("--root-password", flags.rootPassword, refuseToAsk);
  const apiKey = flags.aiApiKey === undefined ? undefined : await readSecret("--ai-api-key", flags.aiApiKey, refuseToAsk);
  return makeSetupArgs(flags, {
    username,
    password,
    rootPassword,
    apiKey,
    provider: flags.aiProvider,
    model: flags.aiModel,
    timezone: flags.timezone,
  });
}

async function askArgs(address: Address, flags: SetupFlags): Promise<SetupArgs> {
  const { intro } = await import("@clack/prompts");
  intro(`Setting up the gateway at ${address.origin}`, { output: process.stderr });
  const username = flags.username || (await askText("Your user name", suggestName(), checkName));
  const password = await readSecret("--new-password", flags.newPassword ?? true, () => askNewPassword(`Password for ${username}`));
  const rootPassword = await askRootPassword(flags);
  const timezone = flags.timezone ?? (await askText("Time zone", Intl.DateTimeFormat().resolvedOptions().timeZone, checkZone));
  const provider = flags.aiProvider ?? (await askText("AI provider, such as anthropic or openai (leave empty to decide later)"));
  const model = provider === "" ? undefined : flags.aiModel || (await askText(`Model (${provider})`, "", checkModel));
  const askKey = () => askSecret(`API key for ${provider} (leave empty to decide later)`);
  const apiKey =
    provider === "" && flags.aiApiKey === undefined ? undefined : await readSecret("--ai-api-key", flags.aiApiKey ?? true, askKey);
  return makeSetupArgs(flags, { username, password, rootPassword, apiKey, provider, model, timezone });
}

/** The name of the system user, if the first user can have it: not root, whose account exists already. */
function suggestName(): string {
  const name = systemUser();
  return checkName(name) === undefined ? name : "";
}

/** Checked at the prompt, so that one wrong answer does not void all others. */
function checkName(value: string): string | undefined {
  if (value.trim() === "root") return "root already exists, for administration: choose another name for yourself";
  return NAME.test(value.trim()) ? undefined : "Use up to 32 lower-case letters, digits, _ or -, starting with a letter or _";
}

function checkZone(value: string): string | undefined {
  return isTimezone(value.trim()) ? undefined : "Unknown time zone: write it like Europe/Berlin";
}

function checkModel(value: string): string | undefined {
  return value.trim() === "" ? "Enter the name of a model" : undefined;
}

async function askRootPassword(flags: SetupFlags): Promise<string | undefined> {
  const ask = () => askNewPassword("Password for root");
  if (flags.rootPassword !== undefined) return readSecret("--root-password", flags.rootPassword, ask);
  return (await askYesNo("Use the same password for root, the administrator?")) ? undefined : ask();
}

type Values = {
  username: string;
  password: string;
  rootPassword: string | undefined;
  timezone: string | undefined;
  provider: string | undefined;
  model: string | undefined;
  apiKey: string | undefined;
};

function makeSetupArgs(flags: SetupFlags, { username, password, rootPassword, timezone, provider, model, apiKey }: Values): SetupArgs {
  const ai = { ...(provider ? { provider } : {}), ...(model ? { model } : {}), ...(apiKey ? { apiKey } : {}) };
  return {
    username,
    password,
    ...(rootPassword === undefined ? {} : { rootPassword }),
    timezone: timezone || Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(Object.keys(ai).length === 0 ? {} : { ai }),
    ...nodeArgs(flags),
    ...(flags.code === undefined ? {} : { code: flags.code }),
  };
}

function nodeArgs({ nodeId, nodeLabel, nodeExpiresAt }: SetupFlags): Pick<SetupArgs, "node"> {
  if (nodeId === undefined) {
    if (nodeLabel !== undefined || nodeExpiresAt !== undefined) throw new Problem("--node-label and --node-expires-at need --node-id");
    return {};
  }
  const expiresAt = nodeExpiresAt === undefined ? undefined : parseExpiry(nodeExpiresAt);
  if (expiresAt === null) throw new Problem("--node-expires-at needs a time; without it, the token expires after a year without use");
  const label = nodeLabel === undefined ? {} : { label: nodeLabel };
  return { node: { deviceId: nodeId, firstUseWithinMs: LINE_WORKS_MS, ...label, ...(expiresAt === undefined ? {} : { expiresAt }) } };
}

/** readSecret asks only at a terminal, and with a terminal these values are not collected here. */
function refuseToAsk(): Promise<string> {
  return Promise.reject(new Problem("No terminal to prompt at"));
}
