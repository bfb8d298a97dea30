// The host checks of sys.doctor, for root: storage, database, runtime, who can reach the gateway, which private hosts it may connect
// to, and who may do everything.

import type { Vitals, VitalSigns } from "../../ports/vitals.ts";
import type { Check } from "../../protocol/check.ts";
import type { ReadContext } from "../context.ts";
import { ALLOWED_HOSTS_KEY } from "../egress/allow.ts";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const FREE_LOW_BYTES = GIB;
const FREE_CRITICAL_BYTES = 100 * MIB;
const DATABASE_LARGE_BYTES = 8 * GIB;
const REMOTE = "See docs/guides/remote-access.md.";

export async function runHostChecks(vitals: Vitals, reads: ReadContext): Promise<Check[]> {
  const signs = await vitals.read();
  return [checkStorage(signs), checkDatabase(signs), checkRuntime(signs), checkAddress(signs), checkHosts(reads), checkRights(reads)];
}

function checkStorage({ storageProblem, freeBytes }: VitalSigns): Check {
  const check = { id: "storage", title: "Storage" };
  if (storageProblem !== null)
    return {
      ...check,
      state: "fail",
      says: `The data directory cannot be written to: ${storageProblem}.`,
      next: "Free disk space, or give the gateway's user write access to it.",
    };
  if (freeBytes === null) return { ...check, state: "ok", says: "The data directory can be written to.", next: null };
  const says = `The data directory can be written to; ${formatBytes(freeBytes)} are free.`;
  if (freeBytes < FREE_CRITICAL_BYTES)
    return { ...check, state: "fail", says, next: "Free disk space now: the gateway will soon refuse changes." };
  if (freeBytes < FREE_LOW_BYTES) return { ...check, state: "warn", says, next: "Free disk space before the disk is full." };
  return { ...check, state: "ok", says, next: null };
}

function checkDatabase({ databaseBytes }: VitalSigns): Check {
  const check = { id: "database", title: "Database" };
  if (databaseBytes === null)
    return {
      ...check,
      state: "warn",
      says: "The size of the database could not be determined.",
      next: "Check the permissions of the data directory.",
    };
  const says = `The size of the database is ${formatBytes(databaseBytes)}.`;
  if (databaseBytes < DATABASE_LARGE_BYTES) return { ...check, state: "ok", says, next: null };
  return { ...check, state: "warn", says, next: "Remove files and workspaces that nobody needs." };
}

function checkRuntime({ runtime, memoryBytes }: VitalSigns): Check {
  const check = { id: "runtime", title: "Runs on" };
  const problems = runtime.flatMap(({ problem }) => problem ?? []);
  if (problems[0] !== undefined) {
    const [says, ...next] = problems[0].split(/(?<=\.) /);
    return { ...check, state: "warn", says: says!, next: next.join(" ") || null };
  }
  const on = runtime.map(({ name, version }) => `${name} ${version}`).join(", ");
  const memory = memoryBytes === null ? "" : ` It uses ${formatBytes(memoryBytes)} of memory.`;
  return { ...check, state: "ok", says: `${on === "" ? "In memory" : on}.${memory}`, next: null };
}

function checkAddress({ reach }: VitalSigns): Check {
  const check = { id: "address", title: "Address" };
  if (!reach.isPublic) return { ...check, state: "ok", says: "Only this machine can reach the gateway.", next: null };
  if (reach.isEncrypted) return { ...check, state: "ok", says: "Others can reach the gateway, over encrypted connections.", next: null };
  const says = "Others can reach the gateway over unencrypted connections: passwords and tokens can be read on the network.";
  return { ...check, state: "warn", says, next: `Put TLS in front of it, or use an encrypted network. ${REMOTE}` };
}

function checkHosts({ config }: ReadContext): Check {
  const check = { id: "hosts", title: "Private addresses" };
  const listed = (config.get(ALLOWED_HOSTS_KEY) ?? "").split(/[\s,]+/).filter((text) => text !== "");
  if (listed.length === 0)
    return { ...check, state: "ok", says: "Agents cannot reach private addresses, except the model servers you chose.", next: null };
  const portless = listed.filter((text) => !/:\d+$/.test(text));
  const says = `Agents may connect to hosts that are not public: ${listed.join(", ")}.`;
  if (portless.length === 0) return { ...check, state: "ok", says, next: null };
  return {
    ...check,
    state: "warn",
    says,
    next: `Add a port to ${portless.join(", ")} in ${ALLOWED_HOSTS_KEY}: without one, every service there can be reached.`,
  };
}

function checkRights({ capabilities, groups }: ReadContext): Check {
  const check = { id: "rights", title: "Rights" };
  const wide = capabilities.list().filter(({ gid, capability }) => gid !== 0 && capability === "*");
  if (wide[0] === undefined) return { ...check, state: "ok", says: "Only root may do everything.", next: null };
  const names = wide.map(({ gid }) => groups.get(gid)?.name ?? String(gid));
  return {
    ...check,
    state: "warn",
    says: `Like root, ${names.map((name) => `group ${name}`).join(", ")} may do everything.`,
    next: `If this is not intended: gsv capability revoke ${names[0]} '*'`,
  };
}

function formatBytes(bytes: number): string {
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(1)} GiB`;
  return `${Math.max(1, Math.round(bytes / MIB))} MiB`;
}
