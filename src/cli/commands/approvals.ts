// gsv approvals: lists and answers the questions of agents, and lists and revokes grants.

import type { Calls, Client } from "../../client/client.ts";
import { formatBody } from "../../approval/show.ts";
import { decisionLine } from "../chat/questions.ts";
import { formatLocalTime, formatRelativeTime } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printText, printJson, printTable } from "../terminal/terminal.ts";

type ApprovalList = Calls["proc.approval.list"]["result"];
type ApproveFlags = Globals & { day?: boolean; scope?: string; for?: string };

const EXIT_USAGE = 2;
const SCOPES = ["exact", "folder", "tool"] as const;
type Scope = (typeof SCOPES)[number];
const OUTCOMES: Record<Calls["proc.approval.history"]["result"]["questions"][number]["state"], string> = {
  pending: "waiting",
  approved: "allowed",
  used: "allowed",
  denied: "denied",
  expired: "nobody answered",
  withdrawn: "no longer needed",
};
const HOURS = /^(\d{1,4})h$/;

export async function approvalsList(flags: Globals & { whole?: boolean }): Promise<void> {
  const listed = await withClient(flags, (client) => client.call("proc.approval.list", { whole: flags.whole === true }));
  if (flags.json) return printJson(listed);
  const { pending, grants } = listed;
  if (pending.length === 0) printNote("No questions are waiting for you");
  for (const question of pending) printQuestion(question, flags.whole === true);
  if (pending.length > 0) printNote("gsv: answer with gsv approvals approve ID or gsv approvals deny ID; the start of an id is enough");
  if (grants.length === 0) return;
  printText("Allowed without asking:");
  for (const { grantId, expiresAt, says, shown } of grants) {
    printText(`${grantId}   ${says}, until ${formatLocalTime(expiresAt)}`);
    for (const line of shown.text.split("\n")) printText(`    ${line}`);
    printText("");
  }
  printNote("gsv: to revoke one: gsv approvals revoke ID");
}

function printQuestion(question: ApprovalList["pending"][number], isShownWhole: boolean): void {
  const { requestId, askedBy, createdAt, expiresAt, kind, why, title, explanation, syscall, args, target, cwd } = question;
  const by = askedBy.schedule === null ? askedBy.agent : `${askedBy.agent}, started by the schedule ${askedBy.schedule.name}`;
  printText(`${requestId}   ${title}?`);
  if (kind === "budget") printText(`  ${why}`);
  else {
    const { text, isWhole } = formatBody({ call: syscall, args, target, cwd }, isShownWhole);
    for (const line of text.split("\n")) printText(`  ${line}`);
    printText(`  ${explanation}`);
    if (!isWhole) printNote("gsv: this call is not shown in full; to see all of it: gsv approvals --whole");
  }
  printText(`  asked by ${by} ${formatRelativeTime(createdAt, "-")}, expires ${formatRelativeTime(expiresAt, "-")}`);
  printText("");
}

export async function approvalsApprove(flags: ApproveFlags, [id = ""]: readonly string[]): Promise<void> {
  const { scope = "exact" } = flags;
  if (!SCOPES.some((one) => one === scope)) throw new Problem(`--scope must be one of ${SCOPES.join(", ")}`, EXIT_USAGE);
  const [, hours] = HOURS.exec(flags.for ?? "1h") ?? [];
  if (hours === undefined) throw new Problem("--for takes a number of hours, such as 8h", EXIT_USAGE);
  const remember = flags.day === true || flags.scope !== undefined || flags.for !== undefined;
  await withClient(flags, async (client) => {
    const { requestId } = await requirePending(client, id);
    const answer = await client.call("proc.hil", {
      requestId,
      decision: "approve",
      // Always with a scope: without one the gateway grants more.
      ...(remember ? { remember: true, scope: scope as Scope } : {}),
      ...(flags.for === undefined ? {} : { ttlMs: Number(hours) * 3_600_000 }),
    });
    if (flags.json) return printJson(answer);
    const { grant } = answer;
    printText(grant === undefined ? "Allowed once" : `Allowed. ${grant.says}, until ${formatLocalTime(grant.expiresAt)}`);
  });
}

export async function approvalsDeny(flags: Globals & { reason?: string }, [id = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { requestId } = await requirePending(client, id);
    const reason = flags.reason === undefined ? {} : { reason: flags.reason };
    const answer = await client.call("proc.hil", { requestId, decision: "deny", ...reason });
    if (flags.json) return printJson(answer);
    printText(decisionLine({ decision: "deny", ...reason }).replace(/^d/, "D"));
  });
}

export async function approvalsRevoke(flags: Globals, [id = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { grants } = await client.call("proc.approval.list", {});
    const { grantId } = requireOne(
      grants,
      ({ grantId }) => grantId.startsWith(id),
      ({ grantId }) => grantId,
      `Nothing with the id ${id} is allowed: gsv approvals lists what is`,
    );
    const answer = await client.call("proc.approval.revoke", { grantId });
    if (flags.json) return printJson(answer);
    printText(answer.revoked ? `Revoked ${grantId}` : `${grantId} had already ended`);
  });
}

export async function approvalsHistory(flags: Globals & { limit?: string }): Promise<void> {
  const limit = Number(flags.limit ?? "20");
  if (!Number.isInteger(limit) || limit < 1) throw new Problem("--limit takes a whole number", EXIT_USAGE);
  const { questions } = await withClient(flags, (client) => client.call("proc.approval.history", { limit }));
  if (flags.json) return printJson({ questions });
  if (questions.length === 0) return printNote("No questions yet");
  printTable(
    ["ASKED", "BY", "OUTCOME", "WHAT"],
    questions.map(({ createdAt, askedBy, state, kind, title, syscall, args, target, cwd }) => [
      formatRelativeTime(createdAt, "-"),
      askedBy.agent,
      OUTCOMES[state],
      kind === "budget" ? title : `${title}: ${formatBody({ call: syscall, args, target, cwd }).text.split("\n")[0]}`,
    ]),
  );
}

async function requirePending(client: Client, id: string): Promise<ApprovalList["pending"][number]> {
  const { pending } = await client.call("proc.approval.list", {});
  const missing = `No waiting question ${id}: gsv approvals lists them`;
  return requireOne(
    pending,
    ({ requestId }) => requestId.startsWith(id),
    ({ requestId }) => requestId,
    missing,
  );
}

function requireOne<T>(all: readonly T[], isMatch: (item: T) => boolean, name: (item: T) => string, missing: string): T {
  const found = all.filter(isMatch);
  if (found.length > 1) throw new Problem(`Several ids match: ${found.map(name).join(", ")}`);
  return found[0] ?? fail(missing);
}

function fail(message: string): never {
  throw new Problem(message);
}
