// Questions to people: what they answer, what of it is remembered, and that the process hears of it. The answers themselves are
// rows (nouns/approvals.ts); a process that hears of one asks again, and judge.ts finds it.

import { describeGrant, grantFor, type NAMED_SCOPES, Remember } from "../../approval/grants.ts";
import type { Judged } from "../../approval/request.ts";
import { showRequest } from "../../approval/show.ts";
import { judge } from "../../approval/tags.ts";
import { fail } from "../../lib/sys-error.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { HilRequest, Overspent } from "../../protocol/proc-records.ts";
import type { ProcessArgs, ProcessCall, ProcessResult } from "../../process/actor.ts";
import type { Approval, KeptGrant } from "../nouns/approvals.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Part } from "../part.ts";
import { NATIVE } from "../../lib/target.ts";
import type { Store } from "../store.ts";
import { QUESTION_MS } from "./judge.ts";

/** Asks a process for something. */
export type AskProcess = <N extends ProcessCall>(pid: string, name: N, args: ProcessArgs<N>) => Promise<ProcessResult<N>>;

export type Decision = {
  requestId: string;
  decision: "approve" | "deny";
  remember?: boolean | undefined;
  scope?: (typeof NAMED_SCOPES)[number] | undefined;
  ttlMs?: number | undefined;
  reason?: string | undefined;
};

type BudgetQuestion = { runId: string; conversationId: string; over: readonly Overspent[]; why: string };

export class Questions implements Part {
  readonly #store: Store;
  readonly #ask: AskProcess;

  constructor(store: Store, ask: AskProcess) {
    this.#store = store;
    this.#ask = ask;
  }

  /** The oldest that waits for an answer. */
  oldest(pid: string): HilRequest | null {
    const [first] = this.#store.reads.approvals.pendingOf(pid);
    return first === undefined ? null : hilRequest(first);
  }

  /** A question of the caller's own; a foreign one answers like one that is not there. */
  find(caller: Caller, requestId: string): Approval {
    const found = this.#store.reads.approvals.get(requestId);
    if (found === undefined || (found.uid !== caller.uid && !isRoot(caller)))
      fail(404, `Pending tool confirmation not found: ${requestId}`);
    return found;
  }

  async decide(caller: Caller, pid: string | undefined, { requestId, decision, remember, scope, ttlMs, reason }: Decision) {
    if (caller.agent !== undefined) fail(403, "A process cannot answer questions: a person does");
    const asked = this.find(caller, requestId);
    if (pid !== undefined && pid !== asked.pid) fail(404, `Pending tool confirmation not found: ${requestId}`);
    const wanted = decision === "approve" && (remember === true || scope !== undefined || ttlMs !== undefined) && asked.kind === "call";
    const how = { scope: scope ?? (remember === true ? "class" : "exact"), ...(ttlMs && { ttlMs }) };
    const remembered = wanted ? await this.#grantFor(asked, Remember.parse(how)) : null;
    await this.#store.commit(({ approvals, spending, now }) => {
      const open = approvals.get(requestId);
      if (open?.state !== "pending") fail(409, `This was answered already: it is ${open?.state ?? "gone"}`);
      if (open.expiresAt <= now) fail(409, "Nobody answered in time: the process was told so");
      approvals.decide(requestId, decision === "approve" ? "approved" : "denied", caller.uid, reason?.trim() || null, now);
      if (remembered !== null) approvals.remember(remembered);
      if (decision === "approve" && asked.kind === "budget" && isOfUser(asked)) spending.extended(asked.uid, now);
    });
    const resumed = await this.#tell(asked);
    const base = { ok: true as const, pid: asked.pid, requestId, decision, resumed, pendingHil: this.oldest(asked.pid) };
    return remembered === null ? base : { ...base, remembered: true as const, grant: grantRecord(remembered, asked) };
  }

  /** Whether a run may use more than its budget; the same question for as long as it is open. */
  async askForBudget({ uid, pid, cwd }: ProcessRow, { runId, conversationId, over, why }: BudgetQuestion): Promise<HilRequest> {
    const { crypto } = this.#store.ports;
    const approval = await this.#store.commit(({ approvals, emit, after, now }) => {
      const same = approvals.sameQuestion(pid, runId, BUDGET);
      if (same !== undefined) return same;
      after(() => emit.changed(uid, ["approvals"]));
      return approvals.ask({
        requestId: crypto.uuid(),
        uid,
        pid,
        kind: "budget",
        runId,
        conversationId,
        callId: `budget:${runId}`,
        toolName: "Budget",
        syscall: BUDGET,
        args: { over: over.map((one) => ({ ...one })) },
        target: NATIVE,
        cwd,
        digest: BUDGET,
        tags: [],
        why,
        createdAt: now,
        expiresAt: now + QUESTION_MS,
      });
    });
    this.#store.wakeBy(approval.expiresAt);
    return hilRequest(approval);
  }

  async revoke(caller: Caller, grantId: string): Promise<boolean> {
    if (caller.agent !== undefined) fail(403, "A process cannot change what it is allowed");
    const grant = this.#store.reads.approvals.grant(grantId);
    if (grant === undefined || (grant.uid !== caller.uid && !isRoot(caller))) return false;
    return this.#store.commit(({ approvals, now }) => approvals.revoke(grantId, now));
  }

  begin(): void {
    this.tellAll();
  }

  /** Those nobody answered in time. */
  woke(now: number): void {
    if ((this.nextDueAt() ?? Infinity) > now) return;
    void this.#store
      .commit(({ approvals, emit, after }) => {
        for (const { uid } of approvals.expire(now)) after(() => emit.changed(uid, ["approvals"]));
      })
      .then(
        () => this.tellAll(),
        (error: unknown) => this.#store.ports.log.error("questions could not be closed", { error: String(error) }),
      );
  }

  nextDueAt(): number | null {
    return this.#store.reads.approvals.nextDueAt();
  }

  /** Whatever was answered and may not have been heard: hearing it twice changes nothing. */
  tellAll(): void {
    for (const approval of this.#store.reads.approvals.untold()) void this.#tell(approval);
  }

  async #tell({ requestId, pid, kind }: Approval): Promise<boolean> {
    try {
      const answered = this.#store.reads.approvals.get(requestId);
      if (kind === "call") await this.#ask(pid, "decided", { requestId });
      else await this.#ask(pid, "budgetDecided", { requestId, isAllowed: answered?.state === "approved" });
      await this.#store.commit(({ approvals }) => {
        if (kind === "budget") approvals.use(requestId);
        approvals.told(requestId);
      });
      return true;
    } catch (error) {
      this.#store.ports.log.error("an answer could not be told", { pid, error: String(error) });
      return false;
    }
  }

  async #grantFor(asked: Approval, wanted: Remember): Promise<KeptGrant> {
    const judged = await this.#judged(asked);
    const { uid, pid, target, digest, requestId } = asked;
    const grant = grantFor({ uid, pid, target, digest, judged }, wanted, this.#store.reads.now);
    if ("error" in grant) fail(400, grant.error);
    return { ...grant, grantId: this.#store.ports.crypto.uuid(), requestId };
  }

  /** As it was judged when it was asked about: the same call of the same process. */
  async #judged({ pid, syscall, args, target, cwd, tags }: Approval): Promise<Judged> {
    const process = this.#store.reads.processes.get(pid);
    const workspace = process?.workspaceId == null ? null : `/workspaces/${process.workspaceId}`;
    const request = {
      call: syscall,
      args,
      profile: process?.profile ?? "task",
      cwd: target === NATIVE ? cwd : (process?.cwd ?? "/"),
      home: process?.home ?? "/",
      workspace,
      device: target === NATIVE ? null : target,
    };
    return { ...judge(request), tags: new Set(tags) as Judged["tags"] };
  }
}

const BUDGET = "proc.budget";

function isOfUser({ args }: Approval): boolean {
  return Array.isArray(args.over) && args.over.some((one) => (one as { scope?: unknown }).scope === "user");
}

export function hilRequest({
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
}: Approval): HilRequest {
  return { requestId, runId, conversationId, callId, toolName, syscall, args, createdAt, expiresAt, target, cwd, why };
}

/** With the call it was made for: a grant without it could not be understood. */
export function grantRecord(grant: KeptGrant, { syscall, args, target: on, cwd }: Approval, whole = false) {
  const { grantId, uid, pid, call, target, scope, folder, madeAt, expiresAt, requestId } = grant;
  const shown = showRequest({ call: syscall, args, target: on, cwd }, whole);
  return { grantId, uid, pid, call, target, scope, folder, madeAt, expiresAt, says: describeGrant(grant), shown, requestId };
}
