// Names for completion: machines, agents, conversations, questions and permissions, kept in a private file next to the configuration.
// Old names are offered at once while another process fetches new ones; only without any is the gateway asked first, for a moment.
// A gateway that needs a password is never asked.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { replaceFile } from "../../hosts/shared/own-files.ts";
import { nameOfAgent } from "../../lib/agent-names.ts";
import { configPath } from "../session/config-file.ts";
import { findCredential, openClient, resolveGateway } from "../session/session.ts";
import type { Candidate } from "./complete.ts";
import { isSafeWord } from "./line.ts";

export const NAME_KINDS = ["targets", "machines", "agents", "conversations", "questions", "grants"] as const;
export type NameKind = (typeof NAME_KINDS)[number];
type Names = { owner: string; fetchedAt: number } & Record<NameKind, Candidate[]>;

const FRESH_MS = 5_000;
/** Older names are not worth offering. */
const USABLE_MS = 24 * 3_600_000;
const FIRST_FETCH_MS = 700;
const FETCH_MS = 5_000;

export async function loadNames(kind: NameKind): Promise<readonly Candidate[]> {
  loaded ??= load();
  return (await loaded)?.[kind] ?? [];
}

let loaded: Promise<Names | null> | null = null;

async function load(): Promise<Names | null> {
  const access = findAccess();
  if (access === null) return null;
  const cached = readCache();
  const age = cached?.owner === access.owner ? Date.now() - cached.fetchedAt : Infinity;
  if (age < FRESH_MS) return cached;
  if (age > USABLE_MS) return fetchNames(access, FIRST_FETCH_MS);
  spawn(process.execPath, [process.argv[1] ?? "", "__complete", "--refresh"], { stdio: "ignore", detached: true }).unref();
  return cached;
}

/** Fetches all names and stores them. A failure is stored as no names, so that not every Tab waits for it. */
export async function refreshNames(): Promise<void> {
  const access = findAccess();
  if (access !== null) await fetchNames(access, FETCH_MS);
}

type Access = { owner: string; place: ReturnType<typeof resolveGateway>; auth: { username: string; token: string } };

function findAccess(): Access | null {
  const { GSV_URL: url, GSV_TOKEN: token } = process.env;
  const globals = { ...(url ? { url } : {}), ...(token ? { token } : {}) };
  try {
    const place = resolveGateway(globals);
    const credential = findCredential(globals, place);
    if (credential === null) return null;
    return { owner: `${credential.auth.username} ${place.address.origin}`, place, auth: credential.auth };
  } catch {
    return null;
  }
}

async function fetchNames({ owner, place, auth }: Access, limitMs: number): Promise<Names> {
  const names: Names = {
    owner,
    fetchedAt: Date.now(),
    targets: [["gsv", "the gateway"]],
    machines: [],
    agents: [],
    conversations: [],
    questions: [],
    grants: [],
  };
  const isLate = new Promise<void>((resolve) => setTimeout(resolve, limitMs).unref());
  await Promise.race([isLate, fill(names, place, auth).catch(() => {})]);
  replaceFile(cacheFile(), JSON.stringify(names));
  return names;
}

async function fill(names: Names, { address }: Access["place"], auth: Access["auth"]): Promise<void> {
  const client = await openClient(address, auth);
  try {
    const { uid } = client.session.identity.process;
    const [{ devices }, { processes }, { conversations }, { pending, grants }] = await Promise.all([
      client.call("sys.device.list", {}),
      client.call("proc.list", { uid }),
      client.call("proc.conversation.list", { pid: `init:${uid}` }),
      client.call("proc.approval.list", {}),
    ]);
    const machines = devices.map(({ deviceId, online }): Candidate => [deviceId, online ? "online" : "offline"]);
    const nameOf = (pid: string) => {
      const one = processes.find((process) => process.pid === pid);
      return one === undefined ? "" : nameOfAgent(one, String);
    };
    Object.assign(names, {
      targets: keepSafe([...names.targets, ...machines]),
      machines: keepSafe(machines),
      agents: keepSafe(processes.map((one) => [one.profile === "init" ? "init" : (one.label ?? one.pid), nameOfAgent(one, String)])),
      conversations: keepSafe(conversations.map(({ id, title }) => [id, title ?? ""])),
      questions: keepSafe(pending.map(({ requestId, pid }) => [requestId, `asked by ${nameOf(pid)}`])),
      grants: keepSafe(grants.map(({ grantId, says }) => [grantId, says])),
    });
  } finally {
    client.close();
  }
}

function keepSafe(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(([value]) => isSafeWord(value));
}

function readCache(): Names | null {
  try {
    const names = JSON.parse(readFileSync(cacheFile(), "utf8")) as Names;
    const isWhole =
      typeof names.owner === "string" && typeof names.fetchedAt === "number" && NAME_KINDS.every((kind) => Array.isArray(names[kind]));
    return isWhole ? names : null;
  } catch {
    return null;
  }
}

function cacheFile(): string {
  return join(dirname(configPath()), "completion.json");
}
