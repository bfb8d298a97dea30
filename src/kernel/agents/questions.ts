// Questions to people: stores their answers and grants, and notifies the process. Answers are rows (nouns/approvals.ts); a notified
// process sends its call again, and judge.ts finds the answer.

import { createGrant, type NAMED_SCOPES, RememberOptions } from "../../approval/grants.ts";
import type { JudgedCall } from "../../approval/request.ts";
import { judge } from "../../approval/tags.ts";
import { fail } from "../../lib/sys-error.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { HilRequest, Overspent } from "../../protocol/proc-records.ts";
import type { ProcessArgs, ProcessCall, ProcessResult } from "../../process/actor.ts";
import type { Approval, StoredGrant } from "../nouns/approvals.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Part } from "../part.ts";
import { NATIVE } from "../../lib/target.ts";
import type { Store } from "../store.ts";
import { dismissAbout } from "../notifications/notify.ts";
import { aboutQuestion, announceClosedQuestions, announceQuestion } from "./question-notices.ts";
import { isOnGateway, QUESTION_MS } from "./judge.ts";
import { makeGrantRecord, makeHilRequest } from "./question-records.ts";

/** Calls a process. */
export type AskProcess = <N extends ProcessCall>(pid: string, name: N, args: ProcessArgs<N>) => Promise<ProcessResult<N>>;

export type DecideArgs = {
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
  readonly #askProcess: AskProcess;

  constructor(store: Store, ask: AskProcess) {
    this.#store = store;
    this.#askProcess = ask;
  }

  /** The oldest question that waits for an answer. */
  findOldest(pid: string): HilRequest | null {
    const [first] = this.#store.reads.approvals.listPending(pid);
    return first === undefined ? null : makeHilRequest(first);
  }

  /** A question to the caller; one to another user fails like one that does not exist. */
  requireQuestion(caller: Caller, requestId: string): Approval {
    const found = this.#store.reads.approvals.get(requestId);
    if (found === undefined || (found.uid !== caller.uid && !isRoot(caller)))
      fail(404, `Pending tool confirmation not found: ${requestId}`);
    return found;
  }

  async recordDecision(caller: Caller, pid: string | undefined, { requestId, decision, remember, scope, ttlMs, reason }: DecideArgs) {
    if (caller.agent !== undefined) fail(403, "A process cannot answer questions: a person must do it");
    const question = this.requireQuestion(caller, requestId);
    if (pid !== undefined && pid !== question.pid) fail(404, `Pending tool confirmation not found: ${requestId}`);
    const isRemembered = remember === true || scope !== undefined || ttlMs !== undefined;
    const terms = { scope: scope ?? (remember === true ? "class" : "exact"), ...(ttlMs && { ttlMs }) };
    const mayGrant = decision === "approve" && isRemembered && question.kind === "call";
    const grant = mayGrant ? await this.#makeGrant(question, RememberOptions.parse(terms)) : null;
    await this.#store.commit((nouns) => {
      const { approvals, spending, now } = nouns;
      const open = approvals.get(requestId);
      if (open?.state !== "pending") fail(409, `This question was already answered: it is ${open?.state ?? "gone"}`);
      if (open.expiresAt <= now) fail(409, "This question has expired: nobody answered it in time");
      approvals.decide(requestId, decision === "approve" ? "approved" : "denied", caller.uid, reason?.trim() || null, now);
      if (grant !== null) approvals.addGrant(grant);
      if (decision === "approve" && question.kind === "budget" && concernsUserBudget(question)) spending.extendBudget(question.uid, now);
      dismissAbout(nouns, question.uid, aboutQuestion(requestId));
    });
    const resumed = await this.#notify(question);
    const base = { ok: true as const, pid: question.pid, requestId, decision, resumed, pendingHil: this.findOldest(question.pid) };
    return grant === null
      ? base
      : { ...base, remembered: true as const, grant: makeGrantRecord(this.#store.reads.processes, grant, question) };
  }

  /** Asks whether a run may use more than its budget. While a question of the run is open, returns that one. */
  async askForBudget({ uid, pid, cwd }: ProcessRow, { runId, conversationId, over, why }: BudgetQuestion): Promise<HilRequest> {
    const { crypto } = this.#store.ports;
    const approval = await this.#store.commit((nouns) => {
      const { approvals, now } = nouns;
      const same = approvals.findSameQuestion(pid, runId, BUDGET);
      if (same !== undefined) return same;
      const question = approvals.addQuestion({
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
      announceQuestion(nouns, question);
      return question;
    });
    this.#store.wakeBy(approval.expiresAt);
    return makeHilRequest(approval);
  }

  async revokeGrant(caller: Caller, grantId: string): Promise<boolean> {
    if (caller.agent !== undefined) fail(403, "A process cannot change its own permissions");
    const grant = this.#store.reads.approvals.getGrant(grantId);
    if (grant === undefined || (grant.uid !== caller.uid && !isRoot(caller))) return false;
    return this.#store.commit(({ approvals, now }) => approvals.revokeGrant(grantId, now));
  }

  begin(): void {
    this.notifyAll();
  }

  /** Expires questions that nobody answered in time. */
  onWake(now: number): void {
    if ((this.nextDueAt() ?? Infinity) > now) return;
    void this.#store
      .commit((nouns) => {
        for (const { uid, requestId } of nouns.approvals.expire(now)) announceClosedQuestions(nouns, uid, [requestId]);
      })
      .then(
        () => this.notifyAll(),
        (error: unknown) => this.#store.ports.log.error("expired questions could not be closed", { error: String(error) }),
      );
  }

  nextDueAt(): number | null {
    return this.#store.reads.approvals.nextDueAt();
  }

  /** Notifies processes of all answers they may have missed. A second notification changes nothing. */
  notifyAll(): void {
    for (const approval of this.#store.reads.approvals.listUnnotified()) void this.#notify(approval);
  }

  async #notify({ requestId, pid, kind }: Approval): Promise<boolean> {
    try {
      const answer = this.#store.reads.approvals.get(requestId);
      if (kind === "call") await this.#askProcess(pid, "handleDecision", { requestId });
      else await this.#askProcess(pid, "handleBudgetDecision", { requestId, isAllowed: answer?.state === "approved" });
      await this.#store.commit(({ approvals }) => {
        if (kind === "budget") approvals.markUsed(requestId);
        approvals.markNotified(requestId);
      });
      return true;
    } catch (error) {
      this.#store.ports.log.error("an answer could not be delivered to its process", { pid, error: String(error) });
      return false;
    }
  }

  async #makeGrant(question: Approval, terms: RememberOptions): Promise<StoredGrant> {
    const judged = await this.#judgeAgain(question);
    const { uid, pid, target, digest, requestId } = question;
    const grant = createGrant({ uid, pid, target, digest, judged }, terms, this.#store.reads.now);
    if ("error" in grant) fail(400, grant.error);
    return { ...grant, grantId: this.#store.ports.crypto.uuid(), requestId };
  }

  /** Judges the call again, with the tags it had when the question was asked. */
  async #judgeAgain({ pid, syscall, args, target, cwd, tags }: Approval): Promise<JudgedCall> {
    const process = this.#store.reads.processes.get(pid);
    const workspace = process?.workspaceId == null ? null : `/workspaces/${process.workspaceId}`;
    const onGateway = isOnGateway({ target, syscall });
    const request = {
      call: syscall,
      args,
      profile: process?.profile ?? "task",
      cwd: onGateway ? cwd : (process?.cwd ?? "/"),
      home: process?.home ?? "/",
      workspace,
      device: onGateway ? null : target,
    };
    return { ...judge(request), tags: new Set(tags) as JudgedCall["tags"] };
  }
}

const BUDGET = "proc.budget";

function concernsUserBudget({ args }: Approval): boolean {
  return Array.isArray(args.over) && args.over.some((one) => (one as { scope?: unknown }).scope === "user");
}
