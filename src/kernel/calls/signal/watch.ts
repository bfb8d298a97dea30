// Watches for a signal.

import { z } from "zod";
import { fail } from "../../../lib/sys-error.ts";
import type { Caller } from "../../../protocol/caller.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { Pid } from "../../../protocol/proc-records.ts";
import { WATCHED_SIGNALS } from "../../../protocol/signal-names.ts";
import type { WriteContext } from "../../context.ts";
import { initPidOf } from "../../nouns/processes.ts";
import { syscall } from "../define.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TTL_MS_MIN = 1_000;
const TTL_MS_MAX = 30 * DAY_MS;
const STATE_CHARS_MAX = 64_000;

export default syscall({
  name: "signal.watch",
  doc: "Tell a process when another process emits a signal, such as proc.run.finished: it gets a message with the signal's payload, and starts to work on it if it is idle. A process watches for itself and names the other process in processId; a person names in pid which of their processes is told, by default their init, and may leave processId out to watch all others. A watch for the same process with the same key is replaced. once, which is the default, ends the watch with its first signal. state is any JSON that the message repeats. It expires after a day, or after ttlMs, from one second to 30 days.",
  runs: "kernel",
  does: "write",
  changes: "watches",
  from: ["user"],
  grant: ["users"],
  args: z.object({
    signal: z.string().trim().min(1).max(128),
    processId: Pid.optional(),
    pid: Pid.optional(),
    key: z.string().trim().min(1).max(128).optional(),
    state: z.unknown().optional(),
    once: z.boolean().default(true),
    ttlMs: z.number().optional(),
  }),
  result: z.object({ watchId: z.string(), created: z.boolean(), createdAt: z.number(), expiresAt: z.number().nullable() }),
  fails: {
    400: "no process emits such a signal, a process without processId, or one that would watch itself",
    403: "a process watches for another one",
    404: "there is no such process of this user",
    413: "the state is too large, or those of all watches together",
    429: "too many watches",
  },
  example: {
    args: { signal: "proc.run.finished", processId: "5f6c4a3e-1111-4222-8333-944444444444", key: "notes", state: { step: 2 } },
    result: {
      watchId: "2d1a7c55-6f0e-4f5c-8a76-58a1f2b3c4d5",
      created: true,
      createdAt: 1763200000000,
      expiresAt: 1763286400000,
    },
  },
  run(nouns, caller, { signal, processId, pid, key = null, state, once, ttlMs = DAY_MS }) {
    const { processes, signalWatches, now } = nouns;
    if (!WATCHED_SIGNALS.has(signal)) fail(400, `No process emits ${signal}. Watch for one of: ${[...WATCHED_SIGNALS].join(", ")}`);
    const target = resolveTarget(nouns, caller, pid);
    if (caller.agent !== undefined && processId === undefined)
      fail(400, "Name the process to watch: signal.watch needs processId from a process");
    if (processId !== undefined && processes.get(processId)?.uid !== caller.uid) fail(404, `Unknown process: ${processId}`);
    if (processId === target) fail(400, "A process cannot watch its own signals");
    if (state !== undefined && JSON.stringify(state).length > STATE_CHARS_MAX)
      fail(413, `state is larger than ${STATE_CHARS_MAX} characters`);
    if (!signalWatches.has(target, key, now) && signalWatches.count(caller.uid, undefined, now) >= LIMITS.watchesPerUser)
      fail(429, `Too many watches: at most ${LIMITS.watchesPerUser} per user. Remove some with signal.unwatch`);
    const expiresAt = now + Math.floor(Math.min(TTL_MS_MAX, Math.max(TTL_MS_MIN, ttlMs)));
    const watch = { uid: caller.uid, pid: target, signal, sourcePid: processId ?? null, key, data: state, once, expiresAt };
    const made = signalWatches.put(watch, now);
    const bytesMax = LIMITS.watchBytesPerUser;
    if (signalWatches.sizeOf(caller.uid) > bytesMax)
      fail(413, `The states of all watches of a user are at most ${bytesMax} characters together: remove some with signal.unwatch`);
    return { ...made, expiresAt };
  },
});

/** The process that is told. */
function resolveTarget({ processes }: Pick<WriteContext, "processes">, { uid, agent }: Caller, pid: string | undefined): string {
  if (agent !== undefined) return pid === undefined || pid === agent.pid ? agent.pid : fail(403, "A process can watch only for itself");
  const target = pid ?? initPidOf(uid);
  return processes.get(target)?.uid === uid ? target : fail(404, `Unknown process: ${target}`);
}
