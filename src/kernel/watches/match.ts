// Matches an event of a process with the watches of its user, in the transaction that records the event. watches.ts delivers.

import { LIMITS } from "../../protocol/limits.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";
import type { WriteContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { SignalDelivery, SignalEvent, SignalWatchRow } from "../nouns/signal-watches.ts";
import { type NotifyNouns, notify } from "../notifications/notify.ts";

type Nouns = NotifyNouns & Pick<WriteContext, "signalWatches">;

/** A watch that matches more often than this in a minute fails. */
const PER_MINUTE_MAX = 60;
/** A run that a watch has caused may cause another by a watch, and so on: beyond this they go in a circle. */
const CHAIN_MAX = 8;
const PAYLOAD_CHARS_MAX = 16_000;

/** Returns the processes that have to be told. */
export function matchWatches(nouns: Nouns, { pid: sourcePid, uid }: ProcessRow, event: ProcessEvent): ReadonlySet<string> {
  const { signalWatches, now } = nouns;
  const pids = new Set<string>();
  const matches = signalWatches.match(uid, event.signal, sourcePid, now);
  if (matches.length === 0) return pids;
  const { runId, ...rest } = event.payload;
  const link = chainLinkOf(runId ?? ("enqueuedRunId" in rest ? rest.enqueuedRunId : undefined)) + 1;
  const failed = new Map<string, SignalWatchRow[]>();
  let room = LIMITS.watchDeliveriesPerUser - signalWatches.countDeliveries(uid);
  let eventId: number | null = null;
  for (const watch of matches) {
    const count = signalWatches.countMatch(watch, now);
    const error = findFailure(link, count, room);
    if (error !== null) {
      const others = failed.get(error);
      if (others === undefined) failed.set(error, [watch]);
      else others.push(watch);
      continue;
    }
    eventId ??= signalWatches.addEvent(toSignalEvent(event, sourcePid));
    // Made from the event: if a crash loses this match, the event comes again, and the process gets its message once.
    const toldIn = `watch:${link}:${watch.watchId}:${sourcePid}:${event.seq}`;
    signalWatches.addDelivery({ eventId, watch, runId: toldIn, matchedAt: now });
    pids.add(watch.pid);
    room--;
  }
  for (const [error, watches] of failed) failWatches(nouns, watches, error);
  return pids;
}

function findFailure(link: number, count: number, room: number): string | null {
  if (link > CHAIN_MAX) return `Processes that watch each other have started runs in a circle ${CHAIN_MAX} times`;
  if (count > PER_MINUTE_MAX) return `It matched more than ${PER_MINUTE_MAX} signals in a minute`;
  return room > 0 ? null : `More than ${LIMITS.watchDeliveriesPerUser} signals that were matched wait to be delivered`;
}

/** A signal could not be delivered: its watch fails. If that one is over already, nothing but the signal is lost. */
export function failDelivery(nouns: Nouns, watch: SignalWatchRow, error: string): void {
  const { uid, pid, signal, watchId, state, expiresAt } = watch;
  if (state === "failed") return;
  if (expiresAt > nouns.now) return failWatches(nouns, [watch], error);
  notify(nouns, uid, {
    topic: "watches",
    title: `A signal ${signal} could not be delivered`,
    body: `${error}. Process ${pid} was not told of it by a watch that is over.`,
    level: "warning",
    pid,
    about: `watch:${watchId}`,
  });
}

/** Marks watches of a user for the same signal failed, which nobody else would notice, and tells their owner. */
function failWatches(nouns: Nouns, watches: readonly SignalWatchRow[], error: string): void {
  const [{ uid, pid, signal, watchId }] = watches as [SignalWatchRow];
  for (const watch of watches) nouns.signalWatches.markFailed(watch, error, nouns.now);
  nouns.after(() => nouns.emit.announceChanges(uid, ["watches"]));
  const isOne = watches.length === 1;
  notify(nouns, uid, {
    topic: "watches",
    title: isOne ? `A watch for ${signal} has failed` : `${watches.length} watches for ${signal} have failed`,
    body: `${error}. ${isOne ? `Process ${pid} is` : "Their processes are"} no longer told of this signal.`,
    level: "warning",
    ...(isOne ? { pid } : {}),
    about: `watch:${watchId}`,
  });
}

/** How many watches led to this run, one after another. */
function chainLinkOf(runId: string | undefined): number {
  return Number(/^watch:(\d):/.exec(runId ?? "")?.[1] ?? 0);
}

function toSignalEvent({ signal, payload }: ProcessEvent, sourcePid: string): SignalEvent {
  const json = JSON.stringify(payload);
  return { sourcePid, signal, payload: json.slice(0, PAYLOAD_CHARS_MAX), isCut: json.length > PAYLOAD_CHARS_MAX };
}

/** What the process is told. */
export function describeSignal({ watch, event }: Pick<SignalDelivery, "watch" | "event">): string {
  const { watchId, key, data, createdAt } = watch;
  const { sourcePid, signal, payload, isCut } = event;
  return [
    `[process event: signal.watch] Process ${sourcePid} has emitted ${signal}, which you watch since ${new Date(createdAt).toISOString()}.`,
    `Watch: ${watchId}${key === null ? "" : ` (key ${key})`}.`,
    ...(data === undefined ? [] : ["", "State of the watch:", "```json", JSON.stringify(data), "```"]),
    "",
    isCut ? `Payload (the first ${PAYLOAD_CHARS_MAX} characters; proc.history has the rest):` : "Payload:",
    "```json",
    payload,
    "```",
  ].join("\n");
}
