// The gate runs this before every call of an agent: it allows the call, asks a person, or refuses. What runs is what the person saw: a
// question stores the digest of the call; an approval covers that digest and is marked used before the call starts.

import type { ScriptParser } from "../../approval/commands.ts";
import { approvalDigest } from "../../approval/digest.ts";
import { type GrantRequest, applyGrants } from "../../approval/grants.ts";
import { isNamedByDefault } from "../../approval/defaults.ts";
import { decide, type Decision, readPolicy } from "../../approval/policy.ts";
import { type JudgedCall, MCP_CALL, type Tag } from "../../approval/request.ts";
import { judge } from "../../approval/tags.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { AgentCall, Caller } from "../../protocol/caller.ts";
import type { Syscall } from "../calls/define.ts";
import type { Approval } from "../nouns/approvals.ts";
import { describeTool } from "../mcp/mcp.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { isGatewayTarget, NATIVE } from "../../lib/target.ts";
import { NO_DEVICE, resolveTargetDevice, type Target } from "../target.ts";
import type { Store } from "../store.ts";
import { announceQuestion } from "./question-notices.ts";
import { Policies } from "./policies.ts";
import { findPosture } from "./postures.ts";

type Data = Record<string, unknown>;

export type PreviewArgs = { profile?: string | undefined; policy?: string | undefined; call: string; args: Data };

/** Whether the target of a question is the gateway: a device, or the tool of an MCP server, has a name of its own. */
export function isOnGateway({ target, syscall }: Pick<Approval, "target" | "syscall">): boolean {
  return target === NATIVE || syscall === MCP_CALL;
}

/** How long a question waits for an answer. */
export const QUESTION_MS = 24 * 60 * 60 * 1000;
export const PENDING_MAX = 10;
const PENDING_OF_USER_MAX = 30;
/** Stands for the working directory of a call on a device in its digest: only the device knows it. */
const DEVICE_DIRECTORY = "the directory it works in";
const DENIED = "Tool execution denied by user";
const DENIED_OUTCOME = { outcome: "denied" };

/** Thrown when a person must answer first: the process sends the call again after the answer. */
export class ApprovalRequired extends Error {
  readonly approval: Approval;

  constructor(approval: Approval) {
    super("A person was asked");
    this.approval = approval;
  }
}

/** Tags that an approval covers only if the person was shown them. */
const RESERVED: readonly Tag[] = ["policy-bearing", "elevates", "reads-secret"];
/** The same where the person has not seen the command itself. */
const RESERVED_UNSEEN: readonly Tag[] = [...RESERVED, "mutating", "connects", "remote"];

export class Judge {
  readonly #store: Store;
  /** Passed in, because calls import this file and so the table cannot be imported here. */
  readonly #calls: ReadonlyMap<string, Syscall>;
  readonly #policies: Policies;
  #parse: Promise<ScriptParser> | null = null;

  constructor(store: Store, calls: ReadonlyMap<string, Syscall>) {
    this.#store = store;
    this.#calls = calls;
    this.#policies = new Policies(store.reads, (name) => this.#mayHaveRules(name));
  }

  /** Returns the caller with what it is allowed, or fails; throws `ApprovalRequired` if a person must answer first. */
  async requireAllowed(call: Pick<Syscall, "name" | "runs">, caller: Caller, args: Data): Promise<Caller> {
    const agent = caller.agent!;
    const { processes } = this.#store.reads;
    const process = processes.get(agent.pid) ?? fail(404, `Process not found: ${agent.pid}`);
    const device = resolveTargetDevice(this.#store.reads, caller, call, args);
    const judged = await this.#judgeCall(process, caller, call.name, args, device);
    const { posture } = findPosture(this.#store.reads, agent);
    const decision = this.#policies.decide(process, judged, posture);
    if (decision.action === "deny") refuse(decision);
    if (decision.action === "auto" && !this.#wasAsked(agent)) return withAllowance(caller, agent, judged, null);
    if (agent.within !== undefined) return this.#allowInsideCommand(caller, agent.within, judged, decision);
    const native = call.name === MCP_CALL ? this.#describeMcpTool(caller, args) : NATIVE;
    const target = device === null ? native : this.#permanentNameOf(caller, device);
    return this.#requireApproval(caller, agent, process, judged, { ...decision, action: "ask" }, target);
  }

  /** A person was asked about this very call: their answer counts, even if the call would need none any more. */
  #wasAsked({ pid, runId, callId, within }: AgentCall): boolean {
    if (callId === null || within !== undefined) return false;
    return this.#store.reads.approvals.findByCall(pid, callId)?.runId === runId;
  }

  /** Fails for a tool that cannot be called. */
  #describeMcpTool({ uid }: Caller, { serverId, name }: Data): string {
    const { mcpServers } = this.#store.reads;
    const server = mcpServers.addressOf(String(serverId));
    if (server?.uid !== uid) fail(404, "MCP server not found");
    mcpServers.checkTool(String(serverId), String(name), false);
    return describeTool(server, String(name));
  }

  /** What would be decided about a call, by the policies in force or by the given one. Changes nothing. */
  async preview(caller: Caller, process: ProcessRow, { profile = "init", policy, call, args }: PreviewArgs) {
    const known = this.#calls.get(call) ?? fail(404, `Unknown syscall: ${call}`);
    const named = known.runs === "hardware" && typeof args.target === "string" && !isGatewayTarget(args.target) ? args.target : null;
    const device = named === null ? null : { name: named, key: this.#store.reads.devices.findKey(caller, named) ?? NO_DEVICE };
    const judged = await this.#judgeCall({ ...process, profile }, caller, call, args, device);
    const read = policy === undefined ? null : readPolicy(policy, (name) => this.#mayHaveRules(name));
    const decision = read === null ? this.#policies.decide({ profile, uid: caller.uid, parentPid: null }, judged) : decide(read, judged);
    const problem = read === null || read.ok ? {} : { problem: read.reason };
    return { ...decision, tags: [...judged.tags], target: judged.target, ...problem };
  }

  /** Fails if a command of an agent may not use the network. */
  checkMayConnect({ agent }: Caller): void {
    if (agent === undefined || agent.within === undefined || agent.within.mayConnect) return;
    fail(
      403,
      "This command has no approval to use the network: name the address in the command itself, as in curl URL, so that a person can be asked",
    );
  }

  /** Whether a policy may contain rules for this name. */
  #mayHaveRules(name: string): boolean {
    return this.#calls.has(name) || isNamedByDefault(name);
  }

  async #judgeCall(
    { profile, workspaceId }: ProcessRow,
    caller: Caller,
    call: string,
    args: Data,
    device: Target | null,
  ): Promise<JudgedCall> {
    const { cwd, home } = caller.process;
    const workspace = workspaceId === null ? null : `/workspaces/${workspaceId}`;
    const devices = device === null ? this.#listCopyDevices(caller, call, args) : [this.#permanentNameOf(caller, device)];
    const request = { call, args, profile, cwd, home, workspace, device: device?.name ?? null, devices };
    return call === "shell.exec" ? judge(request, await this.#loadParser()) : judge(request);
  }

  /** A copy names its devices in its own arguments. */
  #listCopyDevices(caller: Caller, call: string, { from, to }: Data): string[] {
    if (call !== "fs.copy") return [];
    const names = [from, to].map((end) => (end as { target?: unknown } | null | undefined)?.target);
    return names
      .filter((name): name is string => typeof name === "string" && !isGatewayTarget(name))
      .map((name) => this.#permanentNameOf(caller, { name, key: this.#store.reads.devices.findKey(caller, name) ?? NO_DEVICE }));
  }

  #permanentNameOf(caller: Caller, { key, name }: Target): string {
    return this.#store.reads.devices.permanentName(caller, key) ?? name;
  }

  /** Loaded on first use: it is large and needed only for commands. */
  #loadParser(): Promise<ScriptParser> {
    this.#parse ??= import("../../approval/script.ts").then(({ parseScript }) => parseScript);
    return this.#parse;
  }

  /** Inside a command nobody can be asked: the call runs only if a person has approved the command. The error names a tool that asks. */
  #allowInsideCommand(caller: Caller, within: NonNullable<AgentCall["within"]>, judged: JudgedCall, { why }: Decision): Caller {
    const told = within.approved;
    // Tags of a command describe what it does to files, and say nothing about other calls.
    const isTellable = within.isUnseen !== true || judged.call.startsWith("fs.");
    const toTell = within.isUnseen === true ? RESERVED_UNSEEN : RESERVED;
    if (isTellable && told !== null && toTell.every((tag) => !judged.tags.has(tag) || told.includes(tag))) return caller;
    return fail(403, `${why}, and nobody can be asked inside a command. ${suggestTool(judged.call)}`);
  }

  async #requireApproval(
    caller: Caller,
    agent: AgentCall,
    process: ProcessRow,
    judged: JudgedCall,
    decision: Decision,
    target: string,
  ): Promise<Caller> {
    const { reads, ports } = this.#store;
    const { pid, uid } = process;
    const cwd = isOnGateway({ target, syscall: judged.call }) ? caller.process.cwd : DEVICE_DIRECTORY;
    const digest = approvalDigest({ pid, uid, call: judged.call, args: judged.args, target, cwd }, (text) => ports.crypto.sha256(text));
    const asking: GrantRequest = { uid, pid, target, digest, judged };
    const { by } = applyGrants(decision, reads.approvals.grantsOf(pid, judged.call), asking, reads.now);
    if (by !== undefined)
      return by.scope === "class" ? withUnseenAllowance(caller, agent, judged) : withAllowance(caller, agent, judged, [...judged.tags]);
    const known = agent.callId === null ? undefined : reads.approvals.findByCall(pid, agent.callId);
    if (known !== undefined && known.digest === digest && known.runId === agent.runId)
      return this.#applyAnswer(caller, agent, judged, known);
    if (agent.runId === null || agent.callId === null) fail(403, `${decision.why}, and nobody can be asked about it here`);
    const shownCwd = cwd === DEVICE_DIRECTORY ? "" : cwd;
    throw new ApprovalRequired(await this.#askPerson(agent, process, judged, { digest, target, cwd: shownCwd, why: decision.why }));
  }

  async #applyAnswer(caller: Caller, agent: AgentCall, judged: JudgedCall, known: Approval): Promise<Caller> {
    switch (known.state) {
      case "pending":
        throw new ApprovalRequired(known);
      case "approved": {
        // On disk before the call starts: an approval covers one call, even if the gateway crashes.
        const isFirst = await this.#store.commit(({ approvals }) => approvals.markUsed(known.requestId));
        if (!isFirst) fail(403, "The approval was for one call, which has already been made");
        return withAllowance(caller, agent, judged, [...judged.tags]);
      }
      case "denied":
        return fail(403, known.reason === null || known.reason === "" ? DENIED : `${DENIED}: ${known.reason}`, DENIED_OUTCOME);
      case "expired":
        return fail(403, "Nobody approved this in time, so it did not run", DENIED_OUTCOME);
      default:
        if (known.state === "used" && agent.isRepeat) return withAllowance(caller, agent, judged, [...judged.tags]);
        return fail(403, "The approval was for one call, which has already been made", { outcome: "unknown" });
    }
  }

  #askPerson(
    agent: AgentCall,
    { uid, pid }: ProcessRow,
    judged: JudgedCall,
    { digest, target, cwd, why }: Pick<Approval, "digest" | "target" | "cwd" | "why">,
  ): Promise<Approval> {
    const { reads, ports } = this.#store;
    const runId = agent.runId!;
    return this.#store.commit((nouns) => {
      const { approvals, now } = nouns;
      const same = approvals.findSameQuestion(pid, runId, digest);
      if (same !== undefined) return same;
      if (reads.approvals.listPending(pid).length >= PENDING_MAX)
        fail(429, `Too many questions are waiting for an answer: at most ${PENDING_MAX} per process. Wait until some are answered`);
      if (reads.approvals.listPendingOfUser(uid).length >= PENDING_OF_USER_MAX)
        fail(429, `Too many questions are waiting for an answer: at most ${PENDING_OF_USER_MAX} per user. Wait until some are answered`);
      const question = approvals.addQuestion({
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
      announceQuestion(nouns, question);
      return question;
    });
  }
}

/** The caller with the allowance for everything the call does; `approved` holds the tags that a person has seen. */
function withAllowance(caller: Caller, agent: AgentCall, judged: JudgedCall, approved: readonly string[] | null): Caller {
  const allows = { approved, mayConnect: approved !== null || judged.tags.has("connects") };
  return { ...caller, agent: { ...agent, allows } };
}

/** Allowed by a grant for calls like it: nobody has seen this call, so it may do only what its tags say. */
function withUnseenAllowance(caller: Caller, agent: AgentCall, { tags }: JudgedCall): Caller {
  return { ...caller, agent: { ...agent, allows: { approved: [...tags], mayConnect: tags.has("connects"), isUnseen: true } } };
}

function refuse({ why }: Decision): never {
  throw new SysError(403, `Tool execution denied by policy: ${why}`, DENIED_OUTCOME);
}

const TOOL_OF: Record<string, string> = {
  "fs.read": "Use the Read tool instead: then a person is asked",
  "fs.write": "Use the Write or Edit tool instead: then a person is asked",
  "fs.edit": "Use the Edit tool instead: then a person is asked",
  "fs.delete": "Use the Delete tool instead: then a person is asked",
  "sys.config.set": "Use the Write tool on the file below /sys/config: then a person is asked",
};

function suggestTool(call: string): string {
  return (
    TOOL_OF[call] ??
    "Run it as a separate command that names everything it uses, so that a person can be asked, or tell the person what to do"
  );
}
