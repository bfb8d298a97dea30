// gsv status: whether the gateway is up, as whom the user is logged in, which model answers, and what waits. It prompts only if the
// user asks to log in by password, stores no session, and loads as little code as it can.

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

type Account = {
  username: string | null;
  remark: string;
  /** Each is null if this user may not know it. */
  connections: number | null;
  machines: { online: number; all: number } | null;
  waiting: number | null;
  model: { provider: string; model: string } | null;
};

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
  const { version, setupMode, startedAt } = state;
  const { username, connections, machines, waiting, model } = you;
  if (globals.json) {
    const gateway = { url: place.address.url, reachable: true, version, startedAt, setupMode };
    printJson({ ...gateway, username, connections, machines, waiting, model });
    return 0;
  }
  printFields([
    ["gateway", place.address.url],
    ["state", `up since ${formatLocalTime(startedAt)} (${formatDuration(Date.now() - startedAt)}), version ${version}`],
    ["you", you.remark],
    ...(model === null ? [] : [["model", model.provider === model.model ? model.model : `${model.provider}/${model.model}`] as const]),
    ...(machines === null ? [] : [["machines", describeMachines(machines)] as const]),
    ...(waiting === null ? [] : [["waiting", describeWaiting(waiting)] as const]),
  ]);
  return 0;
}

function describeMachines({ online, all }: NonNullable<Account["machines"]>): string {
  if (all === 0) return "none: gsv token create --device NAME connects one";
  return online === all ? `${online} online` : `${online} of ${all} online`;
}

function describeWaiting(count: number): string {
  return count === 0 ? "nothing" : `${count} ${count === 1 ? "question" : "questions"}: gsv approvals`;
}

async function fetchAccount(place: GatewayAccess, known: TokenCredential | PasswordCredential): Promise<Account> {
  const client = await openClient(place.address, known.auth);
  try {
    const { username } = client.session.identity.process;
    const ends = known.from === "session" ? `, session expires ${formatRelativeTime(place.saved.session_expires_at, "never")}` : "";
    const orNull = <T>(answer: Promise<T>): Promise<T | null> => answer.catch(() => null);
    const [connected, listed, asked, settings] = await Promise.all([
      orNull(client.call("sys.connection.list", {})),
      orNull(client.call("sys.device.list", {})),
      orNull(client.call("proc.approval.list", {})),
      orNull(client.call("proc.settings.get", {})),
    ]);
    const devices = listed?.devices ?? null;
    return {
      username,
      remark: `${username}${ends}`,
      connections: connected === null ? null : connected.connections.length - 1,
      machines: devices === null ? null : { online: devices.filter(({ online }) => online).length, all: devices.length },
      waiting: asked?.pending.length ?? null,
      model: settings === null ? null : { provider: settings.effective.provider, model: settings.effective.model },
    };
  } finally {
    client.close();
  }
}

const NOTHING_KNOWN = { username: null, connections: null, machines: null, waiting: null, model: null };

function noAccount(state: Health): Account {
  return { ...NOTHING_KNOWN, remark: state.setupMode ? "no user yet: run gsv auth setup" : "not logged in: run gsv auth login" };
}

function refusedAccount(known: TokenCredential | PasswordCredential, error: unknown): Account {
  const why = error instanceof CallError ? `${error.message} (${error.code})` : String(error instanceof Error ? error.message : error);
  const remark = `not logged in, the ${"password" in known.auth ? "password" : "token"} was refused: ${why}. Run gsv auth login`;
  return { ...NOTHING_KNOWN, remark };
}
