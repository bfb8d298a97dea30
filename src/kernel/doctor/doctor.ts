// Checks what commonly goes wrong with a gateway: each check reports a state and what to do next. Changes nothing, except that a
// model that answers a test no longer counts as failing. Users see their own things; root sees those of all users, and the host
// (host-checks.ts).

import type { Vitals } from "../../ports/vitals.ts";
import { yieldToEventLoop } from "../../lib/yield.ts";
import { SysError } from "../../lib/sys-error.ts";
import { isTokenLive } from "../../lib/token-end.ts";
import { isRoot } from "../../protocol/caller.ts";
import type { Check } from "../../protocol/check.ts";
import { isSubscriptionLive } from "../push/push.ts";
import { readAiSettings } from "../agents/ai-settings.ts";
import type { EffectContext, ReadContext } from "../context.ts";
import { runHostChecks } from "./host-checks.ts";
import { checkQuota } from "./quota-check.ts";
import type { ModelTrials } from "../setup/model-trials.ts";

type Who = { uid: number; gids: readonly number[]; agent?: unknown };
/** `now` is the caller's clock. */
type Options = { now: number | undefined; tryModel: boolean };
/** What the checks use besides rows. */
type DoctorServices = {
  vitals: Vitals;
  trials: Pick<ModelTrials, "check">;
  agents: Pick<EffectContext["agents"], "checkDelivery">;
  relaxed: EffectContext["relaxed"];
};

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SKEW_MS = 30_000;
const EXPIRES_SOON_MS = 14 * DAY_MS;
const UNUSED_MS = 90 * DAY_MS;
/** How long before a token ends for lack of use its owner is warned. */
const ENDS_UNUSED_SOON_MS = 42 * DAY_MS;
/** A token that was not used within this time after it was made will probably never be used. */
const NEVER_USED_MS = 7 * DAY_MS;
const QUESTION_OLD_MS = 60 * MINUTE_MS;
/** Longer than a tool may run or a model may be silent. */
const STUCK_MS = 30 * MINUTE_MS;
/** How many names a message shows. */
const NAMED_MAX = 5;
/** A message shows more secrets, because each one that cannot be opened has to be set again. */
const SECRETS_NAMED_MAX = 100;
/** Secrets may be large, so the check yields after this many. */
const SECRETS_PER_YIELD = 16;

export async function runChecks(
  services: DoctorServices,
  reads: ReadContext,
  caller: Who,
  { now: callerNow, tryModel }: Options,
  signal: AbortSignal,
): Promise<Check[]> {
  const host = isRoot(caller) ? await runHostChecks(services.vitals, reads) : [];
  return [
    ...host,
    checkClock(reads, callerNow),
    checkQuota(reads, caller),
    await checkModel(services, reads, caller, tryModel, signal),
    await checkSecrets(reads, caller),
    checkDevices(reads, caller),
    checkTokens(reads, caller),
    checkQuestions(reads, caller),
    checkPush(reads, caller),
    await checkProcesses(services, reads, caller),
  ];
}

function checkClock({ now, about, connections }: ReadContext, callerNow: number | undefined): Check {
  const check = { id: "clock", title: "Clock" };
  const newest = Math.max(about.startedAt, ...connections.list().map(({ connectedAt }) => connectedAt));
  if (newest > now + SKEW_MS)
    return {
      ...check,
      state: "fail",
      says: "The gateway's clock was set back while the gateway was running.",
      next: "Synchronize it with NTP and restart the gateway.",
    };
  const skewMs = callerNow === undefined ? 0 : now - callerNow;
  if (Math.abs(skewMs) <= SKEW_MS) return { ...check, state: "ok", says: "The gateway's clock is correct.", next: null };
  const which = skewMs > 0 ? "ahead of" : "behind";
  const says = `The gateway's clock is ${formatDuration(Math.abs(skewMs))} ${which} yours, so times and expiries will be off.`;
  return { ...check, state: "warn", says, next: "Synchronize both clocks with NTP." };
}

async function checkModel(services: DoctorServices, reads: ReadContext, caller: Who, tryIt: boolean, signal: AbortSignal): Promise<Check> {
  const check = { id: "model", title: "Model" };
  const { choice, problems } = readAiSettings(reads.config, caller.uid);
  const modelName = choice.provider === "demo" ? "the demo model" : `${choice.model || "no model"} from ${choice.provider}`;
  if (problems[0] !== undefined)
    return { ...check, state: "warn", says: `${problems[0]}.`, next: "Correct it in the AI settings, or with gsv config set." };
  if (tryIt) {
    // Root decides where the gateway may connect, so for root a private address is allowed.
    const { problem } = await services.trials.check(choice, isRoot(caller), signal);
    if (problem !== null)
      return {
        ...check,
        state: "fail",
        says: `${capitalize(modelName)} does not answer. ${endSentence(problem.message)}`,
        next: "Check provider, model and key in the AI settings.",
      };
    services.relaxed(({ modelFailures }) => modelFailures.clear(caller.uid));
  }
  const failing = describeFailures(reads, caller);
  if (failing !== null)
    return {
      ...check,
      state: "fail",
      says: failing,
      next: "Check provider, model and key in the AI settings. This finding stays until the model answers: gsv doctor --model asks it.",
    };
  if (choice.provider === "demo")
    return {
      ...check,
      state: "warn",
      says: "Agents use the demo model, which understands only a few phrases.",
      next: "Choose a provider in the AI settings.",
    };
  return { ...check, state: "ok", says: tryIt ? `${capitalize(modelName)} answers.` : `Agents use ${modelName}.`, next: null };
}

/** Describes the models that failed when they were last used; null if there are none. */
function describeFailures({ modelFailures, accounts, now }: ReadContext, caller: Who): string | null {
  const [last, ...others] = modelFailures.list(isRoot(caller) ? undefined : caller.uid);
  if (last === undefined) return null;
  const { uid, error, count, at } = last;
  const whose = uid === caller.uid ? "your agents" : `agents of ${accounts.findByUid(uid)?.username ?? `uid ${uid}`}`;
  const before = count === 1 ? "" : ` and ${pluralize(count - 1, "time")} before that`;
  const more = others.length === 0 ? "" : ` The models of ${pluralize(others.length, "other user")} failed too.`;
  return `The model of ${whose} failed ${formatDuration(now - at)} ago${before}: ${endSentence(error)}${more}`;
}

/** Shows no values, only whether each can be opened. */
async function checkSecrets({ config }: ReadContext, caller: Who): Promise<Check> {
  const check = { id: "secrets", title: "Secrets" };
  const keys = config.listSealedKeys(caller);
  const unreadable: string[] = [];
  for (const [at, key] of keys.entries()) {
    if (at % SECRETS_PER_YIELD === SECRETS_PER_YIELD - 1) await yieldToEventLoop();
    if (!canOpen(config, key)) unreadable.push(key);
  }
  if (unreadable.length > 0)
    return {
      ...check,
      state: "fail",
      says: `Cannot be opened, because the gateway's secret key has changed or the values are damaged: ${joinNames(unreadable, SECRETS_NAMED_MAX)}.`,
      next: "Restore the gateway's secret key from a backup and restart the gateway, or set each value again with gsv config set.",
    };
  const says = keys.length === 0 ? "There are no sealed values." : `${pluralize(keys.length, "sealed value")}, which can be opened.`;
  return { ...check, state: "ok", says, next: null };
}

function canOpen(config: ReadContext["config"], key: string): boolean {
  try {
    config.get(key);
    return true;
  } catch (error) {
    if (error instanceof SysError) return false;
    throw error;
  }
}

function checkDevices({ devices, about }: ReadContext, caller: Who): Check {
  const check = { id: "devices", title: "Machines" };
  const all = devices.list(caller);
  if (all.length === 0) return { ...check, state: "ok", says: "No machine is connected to this gateway yet.", next: null };
  const online = all.filter((device) => device.online);
  const old = online.filter(({ version }) => version !== "" && version !== about.version);
  if (old.length > 0)
    return {
      ...check,
      state: "warn",
      says: `${joinNames(old.map(({ deviceId, version }) => `${deviceId} (${version})`))} ${old.length === 1 ? "has" : "have"} a different version than the gateway (${about.version}).`,
      next: "Run the line that connected it again on that machine: it installs the gateway's version.",
    };
  return { ...check, state: "ok", says: `${online.length} of ${pluralize(all.length, "machine")} online.`, next: null };
}

function checkTokens({ tokens, now }: ReadContext, caller: Who): Check {
  const check = { id: "tokens", title: "Tokens" };
  const live = tokens.list(isRoot(caller) ? undefined : caller.uid).filter((token) => isTokenLive(token, now));
  const name = ({ label, tokenPrefix }: (typeof live)[number]) => label ?? `${tokenPrefix}…`;
  const names = (some: typeof live) => joinNames(some.map(name));
  const ending = live.filter(({ kind, expiresAt }) => kind !== "user" && expiresAt !== null && expiresAt - now < EXPIRES_SOON_MS);
  if (ending.length > 0)
    return {
      ...check,
      state: "warn",
      says: `Expiring soon: ${names(ending)}.`,
      next: "Create new ones for those machines before they lose access.",
    };
  const unused = live.filter(({ lastUsedAt, createdAt }) => now - (lastUsedAt ?? createdAt) > UNUSED_MS);
  const endingUnused = unused.filter(({ endsUnusedAt }) => endsUnusedAt !== null && endsUnusedAt - now < ENDS_UNUSED_SOON_MS);
  if (endingUnused.length > 0)
    return {
      ...check,
      state: "warn",
      says: `Not used for most of a year, and about to expire: ${joinNames(endingUnused.map((token) => `${name(token)} in ${formatDuration(token.endsUnusedAt! - now)}`))}.`,
      next: "Use the ones that are still needed once, for example by switching the machine on; the others expire.",
    };
  if (unused.length > 0)
    return { ...check, state: "warn", says: `Not used for 90 days: ${names(unused)}.`, next: "Revoke those that nobody needs." };
  const never = live.filter(({ lastUsedAt }) => lastUsedAt === null);
  const abandoned = never.filter(({ createdAt }) => now - createdAt > NEVER_USED_MS);
  if (abandoned.length > 0)
    return {
      ...check,
      state: "warn",
      says: `Never used since they were created: ${names(abandoned)}.`,
      next: "Revoke those that nobody needs.",
    };
  const endless = live.filter(({ expiresAt, endsUnusedAt }) => expiresAt === null && endsUnusedAt === null);
  if (endless.length > 0)
    return {
      ...check,
      state: "warn",
      says: `Without expiry, even if unused: ${names(endless)}.`,
      next: "Replace them with tokens that expire, or revoke those that nobody needs.",
    };
  return { ...check, state: "ok", says: `${pluralize(live.length, "valid token")}${describeUse(live.length, never.length)}.`, next: null };
}

function describeUse(all: number, never: number): string {
  if (all === 0) return "";
  if (never === 0) return all === 1 ? ", in use" : ", all in use";
  return all === never ? ", never used yet" : `, ${never} of them never used yet`;
}

function checkQuestions({ approvals, now }: ReadContext, caller: Who): Check {
  const check = { id: "questions", title: "Questions from agents" };
  const pending = approvals.listPendingOfUser(isRoot(caller) ? undefined : caller.uid);
  const old = pending.filter(({ createdAt }) => now - createdAt > QUESTION_OLD_MS);
  if (old.length > 0)
    return {
      ...check,
      state: "warn",
      says: `${pluralize(old.length, "question")} ${old.length === 1 ? "has" : "have"} waited for an answer for more than an hour.`,
      next: "Allow or deny it in Approvals.",
    };
  return {
    ...check,
    state: "ok",
    says: pending.length === 0 ? "No question is waiting for an answer." : `${pluralize(pending.length, "question")} from the last hour.`,
    next: null,
  };
}

function checkPush(reads: ReadContext, caller: Who): Check {
  const check = { id: "push", title: "Push messages" };
  const browsers = reads.pushSubscriptions.list(isRoot(caller) ? undefined : caller.uid).filter((one) => isSubscriptionLive(reads, one));
  const failing = browsers.filter(({ lastError }) => lastError !== null);
  const [first] = failing;
  if (first !== undefined)
    return {
      ...check,
      state: "warn",
      says: `The last message was not accepted by the push service of ${joinNames(failing.map(({ label, service }) => `${label} (${service})`))}: ${endSentence(first.lastError!)}`,
      next: "Nothing is lost: notifications are in the list. Check that the gateway reaches the Internet, or send a test in the notification settings.",
    };
  const says = browsers.length === 0 ? "Pushed to no browser." : `Pushed to ${pluralize(browsers.length, "browser")}.`;
  return { ...check, state: "ok", says, next: null };
}

async function checkProcesses({ agents }: DoctorServices, { processes, now }: ReadContext, caller: Who): Promise<Check> {
  const check = { id: "processes", title: "Processes" };
  const all = processes.list(isRoot(caller) ? undefined : caller.uid);
  const silent = all.filter(
    ({ state, isBusy, lastActiveAt, createdAt }) =>
      (isBusy || state !== "idle") && state !== "waiting_hil" && now - (lastActiveAt ?? createdAt) > STUCK_MS,
  );
  const stuck = silent.filter(({ state }) => state !== "idle");
  const reports = silent
    .slice(0, NAMED_MAX)
    .map(async (process) => ({ ...process, undelivered: await agents.checkDelivery(process).catch(() => null) }));
  for (const { pid, undelivered } of await Promise.all(reports)) {
    if (undelivered === null) continue;
    const { count, error } = undelivered;
    return {
      ...check,
      state: "warn",
      says: `${pid} could not report ${pluralize(count, "event")} to the gateway${error === null ? "" : `: ${error}`}. It was asked to try again now.`,
      next: "Run this check again. If it still fails, check the gateway's log and its storage.",
    };
  }
  if (stuck.length > 0)
    return {
      ...check,
      state: "warn",
      says: `No activity for half an hour, although there is work to do: ${joinNames(stuck.map(({ pid }) => pid))}.`,
      next: "Stop its run (proc.abort), or end it (proc.kill).",
    };
  return { ...check, state: "ok", says: `${pluralize(all.length, "process", "processes")}, none stuck.`, next: null };
}

function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function joinNames(names: readonly string[], max = NAMED_MAX): string {
  const more = names.length - max;
  return more > 0 ? `${names.slice(0, max).join(", ")} and ${more} more` : names.join(", ");
}

function formatDuration(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  if (minutes < 1) return pluralize(Math.round(ms / 1000), "second");
  if (minutes < 120) return pluralize(minutes, "minute");
  const hours = Math.round(minutes / 60);
  if (hours < 48) return pluralize(hours, "hour");
  const days = Math.round(hours / 24);
  return days < 14 ? pluralize(days, "day") : pluralize(Math.round(days / 7), "week");
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
