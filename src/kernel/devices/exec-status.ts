// Handles exec.status signals of devices, which report on commands that outlived the call that started them. Only the device that
// runs a command may report on it, and each report counts once: after a disconnect the device repeats reports, because it cannot
// know which ones arrived.

import type { Caller } from "../../protocol/caller.ts";
import { EXEC_STATUS } from "../../protocol/signal-names.ts";
import { SIGNALS } from "../../protocol/signals.ts";
import type { SessionStatus } from "../nouns/shell-sessions.ts";
import type { Store } from "../store.ts";

/** Without the device id, which the gateway takes from its own rows. */
const ExecStatus = SIGNALS[EXEC_STATUS].payload.omit({ deviceId: true });

const STATUS_AFTER: Readonly<Record<string, SessionStatus>> = { finished: "completed", failed: "failed", timed_out: "failed" };

/** Returns false if the report is rejected. */
export function handleExecStatus(store: Store, driver: Caller, payload: unknown): boolean {
  const { reads } = store;
  const { data: report } = ExecStatus.safeParse(payload);
  if (report === undefined || driver.identity.role !== "driver") return false;
  const device = reads.devices.findKeyByConnection(driver.connectionId);
  const session = reads.shellSessions.get(report.sessionId, reads.now);
  if (session === undefined || session.deviceId !== device) return false;
  store.write(({ shellSessions, processSessions, emit, after, now }) => {
    const status = STATUS_AFTER[report.event] ?? "running";
    if (!shellSessions.setStatus(report.sessionId, { status, exitCode: report.exitCode ?? null }, now)) return;
    const processUid = status === "running" ? undefined : processSessions.remove(report.sessionId);
    if (processUid !== undefined) after(() => emit.announceChanges(processUid, ["sessions"]));
    after(() => emit.sendExecStatus(session.uid, { deviceId: session.target, ...report }));
  });
  return true;
}
