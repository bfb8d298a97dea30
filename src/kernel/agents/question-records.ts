// Questions and grants as clients get them, with words for people.

import { describeGrant } from "../../approval/grants.ts";
import { explainWhy, titleQuestion } from "../../approval/question-words.ts";
import { formatRequest } from "../../approval/show.ts";
import { makeVisible } from "../../approval/visible.ts";
import { nameOfAgent } from "../../lib/agent-names.ts";
import type { AskedBy, HilRequest } from "../../protocol/proc-records.ts";
import type { ReadContext } from "../context.ts";
import type { Approval, StoredGrant } from "../nouns/approvals.ts";
import { findRun } from "../schedules/outcome.ts";
import type { ProcessReads } from "../nouns/processes.ts";

type AskedByReads = Pick<ReadContext, "processes" | "schedules" | "scheduleRuns">;

export function makeHilRequest({
  requestId,
  runId,
  conversationId,
  callId,
  toolName,
  syscall,
  args,
  createdAt,
  expiresAt,
  target,
  cwd,
  why,
  tags,
  kind,
}: Approval): HilRequest {
  const title = kind === "budget" ? "Continue beyond the budget" : titleQuestion({ syscall, args, target });
  const explanation = explainWhy({ syscall, target, tags, why });
  return { requestId, runId, conversationId, callId, toolName, syscall, args, createdAt, expiresAt, target, cwd, why, title, explanation };
}

/** Who asks, in words, and the schedule that started the run. */
export function makeAskedBy(
  { processes, schedules, scheduleRuns }: AskedByReads,
  { uid, pid, runId }: Pick<Approval, "uid" | "pid" | "runId">,
): AskedBy {
  const found = schedules.find(findRun({ scheduleRuns }, pid, runId)?.scheduleId ?? "");
  // A run's id may have been chosen by its sender.
  const schedule = found?.uid === uid ? { id: found.id, name: makeVisible(found.name) } : null;
  return { agent: nameOfProcess(processes, pid), schedule };
}

/** The same name as on every screen. */
export function nameOfProcess(processes: Pick<ProcessReads, "get">, pid: string): string {
  const process = processes.get(pid) ?? { pid, profile: pid.startsWith("init:") ? "init" : "task", label: null };
  return nameOfAgent(process, (text) => makeVisible(text.replaceAll(/\s+/g, " ")));
}

/** Shows a grant with the call it was made for, without which nobody could understand it. */
export function makeGrantRecord(
  processes: Pick<ProcessReads, "get">,
  grant: StoredGrant,
  { syscall, args, target: on, cwd }: Approval,
  whole = false,
) {
  const { grantId, uid, pid, call, target, scope, folder, madeAt, expiresAt, requestId } = grant;
  const shown = formatRequest({ call: syscall, args, target: on, cwd }, whole);
  const says = describeGrant(grant, { agent: nameOfProcess(processes, pid), args });
  return { grantId, uid, pid, call, target, scope, folder, madeAt, expiresAt, says, shown, requestId };
}
