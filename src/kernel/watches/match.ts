// Matches an event of a process with the watches of its user, in the transaction that records the event. watches.ts delivers.

import type { ProcessEvent } from "../../protocol/signals.ts";
import type { WriteContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { SignalWatchRow } from "../nouns/signal-watches.ts";
import { type NotifyNouns, notify } from "../notifications/notify.ts";

type Nouns = NotifyNouns & Pick<WriteContext, "signalWatches">;

/** A watch that matches more often than this in a minute fails. */
const PER_MINUTE_MAX = 60;
/** A run that a watch has caused may cause another by a watch, and so on: beyond this they go in a circle. */
const CHAIN_MAX = 8;
const PAYLOAD_CHARS_MAX = 16_000;

/** Returns whether anything was matched. */
export function matchWatches(nouns: Nouns, { pid, uid }: ProcessRow, event: ProcessEvent): boolean {
  const { signalWatches, now } = nouns;
  const matches = signalWatches.match(uid, event.signal, pid, now);
  if (matches.length === 0) return false;
  const { runId, ...rest } = event.payload;
  const link = chainLinkOf(runId ?? ("enqueuedRunId" in rest ? rest.enqueuedRunId : undefined)) + 1;
  for (const watch of matches) {
    const count = signalWatches.countMatch(watch, now);
    if (link > CHAIN_MAX) failWatch(nouns, watch, `Processes that watch each other have started runs in a circle ${CHAIN_MAX} times`);
    else if (count > PER_MINUTE_MAX) failWatch(nouns, watch, `It matched more than ${PER_MINUTE_MAX} signals in a minute`);
    else {
      const { watchId } = watch;
      // Made from the event: if a crash loses this match, the event comes again, and the process gets its message once.
      const toldIn = `watch:${link}:${watchId}:${pid}:${event.seq}`;
      signalWatches.addDelivery({ watchId, pid: watch.pid, uid, runId: toldIn, text: describeSignal(watch, event, pid), matchedAt: now });
    }
  }
  return true;
}

/** Marks a watch failed, which nobody else would notice, and tells its owner. */
export function failWatch(
  nouns: Nouns,
  { watchId, uid, pid, signal }: Pick<SignalWatchRow, "watchId" | "uid" | "pid" | "signal">,
  error: string,
): void {
  nouns.signalWatches.markFailed(watchId, error, nouns.now);
  nouns.after(() => nouns.emit.announceChanges(uid, ["watches"]));
  notify(nouns, uid, {
    topic: "watches",
    title: `A watch for ${signal} has failed`,
    body: `${error}. Process ${pid} is no longer told of this signal.`,
    level: "warning",
    pid,
    about: `watch:${watchId}`,
  });
}

/** How many watches led to this run, one after another. */
function chainLinkOf(runId: string | undefined): number {
  return Number(/^watch:(\d):/.exec(runId ?? "")?.[1] ?? 0);
}

function describeSignal({ watchId, key, data, createdAt }: SignalWatchRow, { signal, payload }: ProcessEvent, sourcePid: string): string {
  const json = JSON.stringify(payload);
  const isCut = json.length > PAYLOAD_CHARS_MAX;
  return [
    `[process event: signal.watch] Process ${sourcePid} has emitted ${signal}, which you watch since ${new Date(createdAt).toISOString()}.`,
    `Watch: ${watchId}${key === null ? "" : ` (key ${key})`}.`,
    ...(data === undefined ? [] : ["", "State of the watch:", "```json", JSON.stringify(data), "```"]),
    "",
    isCut ? `Payload (the first ${PAYLOAD_CHARS_MAX} characters; proc.history has the rest):` : "Payload:",
    "```json",
    isCut ? json.slice(0, PAYLOAD_CHARS_MAX) : json,
    "```",
  ].join("\n");
}
