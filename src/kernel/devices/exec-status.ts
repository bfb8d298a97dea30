// What a device tells of commands that outlived the call they were started by. Only the device that runs a command is
// believed about it, and only once: it may tell the same again after a cut, because it cannot know what arrived.

import type { Caller } from "../../protocol/caller.ts";
import { EXEC_STATUS } from "../../protocol/signal-names.ts";
import { SIGNALS } from "../../protocol/signals.ts";
import type { SessionStatus } from "../nouns/shell-sessions.ts";
import type { Store } from "../store.ts";

/** Which device it is, the gateway knows better. */
const ExecStatus = SIGNALS[EXEC_STATUS].payload.omit({ deviceId: true });

const STATUS_AFTER: Readonly<Record<string, SessionStatus>> = { finished: "completed", failed: "failed", timed_out: "failed" };

/** False where it is not believed. */
export function execStatus(store: Store, driver: Caller, payload: unknown): boolean {
  const { reads } = store;
  const { data: told } = ExecStatus.safeParse(payload);
  if (told === undefined || driver.identity.role !== "driver") return false;
  const device = reads.devices.ofDriver(driver.connectionId);
  const session = reads.shellSessions.get(told.sessionId, reads.now);
  if (session === undefined || session.deviceId !== device) return false;
  store.write(({ shellSessions, processSessions, emit, after, now }) => {
    const status = STATUS_AFTER[told.event] ?? "running";
    if (!shellSessions.told(told.sessionId, { status, exitCode: told.exitCode ?? null }, now)) return;
    const leftBy = status === "running" ? undefined : processSessions.ended(told.sessionId);
    if (leftBy !== undefined) after(() => emit.changed(leftBy, ["sessions"]));
    after(() => emit.execStatus(session.uid, { deviceId: session.target, ...told }));
  });
  return true;
}
