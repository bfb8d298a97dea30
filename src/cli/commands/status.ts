// gsv status: whether the gateway is up, and as whom the user is logged in. It prompts only if the user asks to log in by password,
// stores no session, and loads as little code as it can.

import { CallError } from "../../client/client.ts";
import { type Health, fetchHealth } from "../session/health.ts";
import { formatLocalTime, formatRelativeTime, formatDuration } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import {
  type PasswordCredential,
  resolvePasswordCredential,
  type Globals,
  type TokenCredential,
  findCredential,
  resolveGateway,
  openClient,
  type GatewayAccess,
} from "../session/session.ts";
import { printFields, printJson } from "../terminal/terminal.ts";

type Account = { username: string | null; connections: number | null; remark: string };

export async function status(globals: Globals): Promise<number> {
  const place = resolveGateway(globals);
  const known = globals.password === undefined ? findCredential(globals, place) : await resolvePasswordCredential(globals, place);
  const account = known === null ? null : fetchAccount(place, known).catch((error: unknown) => refusedAccount(known, error));
  let state: Health;
  try {
    state = await fetchHealth(place.address);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (globals.json) printJson({ url: place.address.url, reachable: false, reason: error.message });
    else
      printFields([
        ["gateway", place.address.url],
        ["state", error.message.slice(error.message.indexOf(": ") + 2)],
      ]);
    return error.exitCode;
  }
  const you = account === null ? noAccount(state) : await account;
  if (globals.json) {
    const { version, setupMode, startedAt } = state;
    const { username, connections } = you;
    printJson({ url: place.address.url, reachable: true, version, startedAt, setupMode, username, connections });
    return 0;
  }
  printFields([
    ["gateway", place.address.url],
    ["state", `up since ${formatLocalTime(state.startedAt)} (${formatDuration(Date.now() - state.startedAt)}), version ${state.version}`],
    ["setup", state.setupMode ? "no user yet: run gsv auth setup" : "done"],
    ["you", you.remark],
    ...(you.connections === null ? [] : [["connections", `${you.connections} other than this one`] as const]),
  ]);
  return 0;
}

async function fetchAccount(place: GatewayAccess, known: TokenCredential | PasswordCredential): Promise<Account> {
  const client = await openClient(place.address, known.auth);
  try {
    const { username } = client.session.identity.process;
    const ends = known.from === "session" ? `, session expires ${formatRelativeTime(place.saved.session_expires_at, "never")}` : "";
    const connections = await client.call("sys.connection.list", {}).then(
      (answer) => answer.connections.length - 1,
      () => null,
    );
    return { username, connections, remark: `${username}${ends}` };
  } finally {
    client.close();
  }
}

function noAccount(state: Health): Account {
  return { username: null, connections: null, remark: state.setupMode ? "no user yet" : "not logged in: run gsv auth login" };
}

function refusedAccount(known: TokenCredential | PasswordCredential, error: unknown): Account {
  const why = error instanceof CallError ? `${error.message} (${error.code})` : String(error instanceof Error ? error.message : error);
  return {
    username: null,
    connections: null,
    remark: `not logged in, the ${"password" in known.auth ? "password" : "token"} was refused: ${why}. Run gsv auth login`,
  };
}
