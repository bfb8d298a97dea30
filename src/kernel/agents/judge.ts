// Stands in the gate before every call of an agent: lets it run, asks a person, or refuses. What runs is what was shown: a
// question holds the digest of the call, a yes is for that digest and used up before the call begins.

import type { Parse } from "../../approval/commands.ts";
import { approvalDigest } from "../../approval/digest.ts";
import { type Asking, settled } from "../../approval/grants.ts";
import { isNamedByDefault } from "../../approval/defaults.ts";
import { decide, type Decision, readPolicy } from "../../approval/policy.ts";
import type { Judged, Tag } from "../../approval/request.ts";
import { judge } from "../../approval/tags.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { AgentCall, Caller } from "../../protocol/caller.ts";
import type { Syscall } from "../calls/define.ts";
import type { Approval } from "../nouns/approvals.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { isNative, NATIVE } from "../../lib/target.ts";
import { targetOf } from "../target.ts";
import type { Store } from "../store.ts";
import { Policies } from "./policies.ts";

type Data = Record<string, unknown>;

export type PreviewArgs = { profile?: string | undefined; policy?: string | undefined; call: string; args: Data };

/** How long a question waits for an answer. */
export const QUESTION_MS = 24 * 60 * 60 * 1000;
export const PENDING_MAX = 10;
const PENDING_OF_USER_MAX = 30;
/** Where a call on a device begins unless its arguments say so: only the device knows. */
const DEVICE_DIRECTORY = "the directory it works in";
const DENIED = "Tool execution denied by user";
const DENIED_OUTCOME = { outcome: "denied" };

/** Thrown where a person was asked: the call is sent again when they have answered. */
export class ApprovalRequired extends Error {
  readonly approval: Approval;

  constructor(approval: Approval) {
    super("A person was asked");
    this.approval = approval;
  }
}

/** Tags nobody says yes to without being told of them. */
const RESERVED: readonly Tag[] = ["policy-bearing", "elevates", "reads-secret"];
/** And where nobody has seen the command itself. */
const TOLD_BY_TAGS: readonly Tag[] = [...RESERVED, "mutating", "connects", "remote"];

export class Judge {
  readonly #store: Store;
  /** The table itself cannot be imported here: calls use this file. */
  readonly #calls: ReadonlyMap<string, Syscall>;
  readonly #policies: Policies;
  #parse: Promise<Parse> | null = null;

  constructor(store: Store, calls: ReadonlyMap<string, Syscall>) {
    this.#store = store;
    this.#calls = calls;
    this.#policies = new Policies(store.reads, (name) => this.#isNamed(name));
  }

  /** The caller as it may go on, or a refusal; `ApprovalRequired` where a person has to answer first. */
  async pass(call: Pick<Syscall, "name" | "runs">, caller: Caller, args: Data): Promise<Caller> {
    const agent = caller.agent!;
    const { processes } = this.#store.reads;
    const process = processes.get(agent.pid) ?? fail(404, `Process not found: ${agent.pid}`);
    const device = targetOf(this.#store.reads, caller, call, args);
    const judged = await this.#judged(process, caller, call.name, args, device?.name ?? null);
    const decision = this.#policies.decide(process, judged);
    if (decision.action === "deny") refuse(decision);
    if (decision.action === "auto") return allowed(caller, agent, judged, null);
    if (agent.within !== undefined) return this.#within(caller, agent.within, judged, decision);
    const target = device === null ? NATIVE : (this.#store.reads.devices.lastingName(caller, device.key) ?? device.name);
    return this.#asked(caller, agent, process, judged, decision, target);
  }

  /** What would be said of a call, under the policies that count or under one that is given; nothing is done. */
  async preview(caller: Caller, process: ProcessRow, { profile = "init", policy, call, args }: PreviewArgs) {
    const known = this.#calls.get(call) ?? fail(404, `Unknown syscall: ${call}`);
    const device = known.runs === "hardware" && typeof args.target === "string" && !isNative(args.target) ? args.target : null;
    const judged = await this.#judged({ ...process, profile }, caller, call, args, device);
    const read = policy === undefined ? null : readPolicy(policy, (name) => this.#isNamed(name));
    const decision = read === null ? this.#policies.decide({ profile, uid: caller.uid, parentPid: null }, judged) : decide(read, judged);
    const problem = read === null || read.ok ? {} : { problem: read.reason };
    return { ...decision, tags: [...judged.tags], target: judged.target, ...problem };
  }

  /** Whether a command of an agent's may use the network. */
  mayConnect({ agent }: Caller): void {
    if (agent === undefined || agent.within === undefined || agent.within.mayConnect) return;
    fail(
      403,
      "This command may not use the network, because nobody was asked: name the address in the command itself, as curl URL, so that a person can be asked",
    );
  }

  /** Whether a policy may have rules for this name. */
  #isNamed(name: string): boolean {
    return this.#calls.has(name) || isNamedByDefault(name);
  }

  async #judged({ profile, workspaceId }: ProcessRow, caller: Caller, call: string, args: Data, device: string | null): Promise<Judged> {
    const { cwd, home } = caller.process;
    const workspace = workspaceId === null ? null : `/workspaces/${workspaceId}`;
    const request = { call, args, profile, cwd, home, workspace, device };
    return call === "shell.exec" ? judge(request, await this.#parser()) : judge(request);
  }

  /** Large, and needed only for commands. */
  #parser(): Promise<Parse> {
    this.#parse ??= import("../../approval/script.ts").then(({ parseScript }) => parseScript);
    return this.#parse;
  }

  /** Inside a command nobody can be asked: either they have seen the command, or there is a tool to ask with. */
  #within(caller: Caller, within: NonNullable<AgentCall["within"]>, judged: Judged, { why }: Decision): Caller {
    const told = within.approved;
    // Tags of commands tell what becomes of files, and nothing of other calls.
    const isTellable = within.isUnseen !== true || judged.call.startsWith("fs.");
    const toTell = within.isUnseen === true ? TOLD_BY_TAGS : RESERVED;
    if (isTellable && told !== null && toTell.every((tag) => !judged.tags.has(tag) || told.includes(tag))) return caller;
    return fail(403, `${why}, and nobody can be asked inside a command. ${instead(judged.call)}`);
  }

  async #asked(caller: Caller, agent: AgentCall, process: ProcessRow, judged: Judged, decision: Decision, target: string): Promise<Caller> {
    const { reads, ports } = this.#store;
    const { pid, uid } = process;
    const cwd = target === NATIVE ? caller.process.cwd : DEVICE_DIRECTORY;
    const digest = approvalDigest({ pid, uid, call: judged.call, args: judged.args, target, cwd }, (text) => ports.crypto.sha256(text));
    const asking: Asking = { uid, pid, target, digest, judged };
    const { by } = settled(decision, reads.approvals.grantsOf(pid, judged.call), asking, reads.now);
    if (by !== undefined) return by.scope === "class" ? unseen(caller, agent, judged) : allowed(caller, agent, judged, [...judged.tags]);
    const known = agent.callId === null ? undefined : reads.approvals.ofCall(pid, agent.callId);
    if (known !== undefined && known.digest === digest && known.runId === agent.runId) return this.#answered(caller, agent, judged, known);
    if (agent.runId === null || agent.callId === null) fail(403, `${decision.why}, and nobody can be asked about it here`);
    throw new ApprovalRequired(await this.#ask(agent, process, judged, { digest, target, cwd, why: decision.why }));
  }

  async #answered(caller: Caller, agent: AgentCall, judged: Judged, known: Approval): Promise<Caller> {
    switch (known.state) {
      case "pending":
        throw new ApprovalRequired(known);
      case "approved": {
        // On disk before the call begins: a yes is good for one call, whatever becomes of the gateway.
        const isFirst = await this.#store.commit(({ approvals }) => approvals.use(known.requestId));
        if (!isFirst) fail(403, "What was allowed was for one call, and that has been made");
        return allowed(caller, agent, judged, [...judged.tags]);
      }
      case "denied":
        return fail(403, known.reason === null || known.reason === "" ? DENIED : `${DENIED}: ${known.reason}`, DENIED_OUTCOME);
      case "expired":
        return fail(403, "Nobody answered in time whether this may run, so it does not", DENIED_OUTCOME);
      default:
        if (known.state === "used" && agent.isAgain) return allowed(caller, agent, judged, [...judged.tags]);
        return fail(403, "What was allowed was for one call, and that has been made", { outcome: "unknown" });
    }
  }

  #ask(
    agent: AgentCall,
    { uid, pid }: ProcessRow,
    judged: Judged,
    { digest, target, cwd, why }: Pick<Approval, "digest" | "target" | "cwd" | "why">,
  ): Promise<Approval> {
    const { reads, ports } = this.#store;
    const runId = agent.runId!;
    return this.#store.commit(({ approvals, emit, after, now }) => {
      const same = approvals.sameQuestion(pid, runId, digest);
      if (same !== undefined) return same;
      if (reads.approvals.pendingOf(pid).length >= PENDING_MAX)
        fail(429, `Too many questions wait for an answer: at most ${PENDING_MAX} of one process. Wait until some were answered`);
      if (reads.approvals.pendingOfUser(uid).length >= PENDING_OF_USER_MAX)
        fail(429, `Too many questions wait for an answer: at most ${PENDING_OF_USER_MAX} of one user. Wait until some were answered`);
      after(() => emit.changed(uid, ["approvals"]));
      return approvals.ask({
        requestId: ports.crypto.uuid(),
        uid,
        pid,
        kind: "call",
        runId,
        conversationId: agent.conversationId ?? "default",
        callId: agent.callId!,
        toolName: agent.toolName ?? judged.call,
        syscall: judged.call,
        args: { ...judged.args },
        target,
        cwd,
        digest,
        tags: [...judged.tags],
        why,
        createdAt: now,
        expiresAt: now + QUESTION_MS,
      });
    });
  }
}

/** What holds for everything the call does; `approved` are the tags a person was told of. */
function allowed(caller: Caller, agent: AgentCall, judged: Judged, approved: readonly string[] | null): Caller {
  const allows = { approved, mayConnect: approved !== null || judged.tags.has("connects") };
  return { ...caller, agent: { ...agent, allows } };
}

/** A yes to another call covers it: what it does goes as far as its tags say. */
function unseen(caller: Caller, agent: AgentCall, { tags }: Judged): Caller {
  return { ...caller, agent: { ...agent, allows: { approved: [...tags], mayConnect: tags.has("connects"), isUnseen: true } } };
}

function refuse({ why }: Decision): never {
  throw new SysError(403, `Tool execution denied by policy: ${why}`, DENIED_OUTCOME);
}

const TOOL_OF: Record<string, string> = {
  "fs.read": "Use the tool Read for it: then a person is asked",
  "fs.write": "Use the tool Write or Edit for it: then a person is asked",
  "fs.edit": "Use the tool Edit for it: then a person is asked",
  "fs.delete": "Use the tool Delete for it: then a person is asked",
  "sys.config.set": "Use the tool Write on the file below /sys/config: then a person is asked",
};

function instead(call: string): string {
  return (
    TOOL_OF[call] ?? "Run it as a command of its own that names everything, so that a person can be asked, or tell the person what to do"
  );
}
