// The kernel's side of agents: starts processes, carries to them what people and other processes say, and takes in what they
// tell. Who may is decided here; what a process does is its own affair (src/process), what it may do is judge.ts.

import { type Answer, type Door, pass } from "../gate.ts";
import { fail } from "../../lib/sys-error.ts";
import type { Ports } from "../../ports/ports.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ContextFile, Media } from "../../protocol/proc-records.ts";
import type { Limits } from "../../process/budget.ts";
import type { ProcessArgs, ProcessCall, ProcessResult } from "../../process/actor.ts";
import type { ProcessEvent } from "../../protocol/signals.ts";
import type { KernelLink } from "../../process/link.ts";
import type { GitFiles } from "../../vfs/git-files.ts";
import type { Vfs } from "../../vfs/vfs.ts";
import type { ReadContext, WriteContext } from "../context.ts";
import type { Connections } from "../nouns/connections.ts";
import type { Followers } from "../nouns/followers.ts";
import { initPid, type ProcessRow } from "../nouns/processes.ts";
import { route, type Target } from "../route.ts";
import type { Turns } from "../turns.ts";
import { processCaller, processOwner } from "./caller.ts";
import { Checkpoints } from "./checkpoints.ts";
import { DeviceCalls } from "./device-calls.ts";
import { Hearing } from "./hearing.ts";
import { Ipc } from "./ipc.ts";
import { archiveRoot, dataUrl, Keeping, MEDIA_BYTES_MAX, mediaType } from "./keeping.ts";
import type { Judge, PreviewArgs } from "./judge.ts";
import { kernelLink } from "./link.ts";
import type { ProcessSession } from "../nouns/process-sessions.ts";
import { OpenCalls, type StillRunning } from "./open-calls.ts";
import type { Prepared } from "./prepare.ts";
import { mustBeProfile } from "./profiles.ts";
import { Questions } from "./questions.ts";
import { Sessions } from "./sessions.ts";
import { ProcessSignals } from "./signals.ts";
import { makeChild, makeInit, type SpawnArgs } from "./spawn.ts";

export type AgentMeans = {
  ports: Ports;
  reads: ReadContext;
  connections: Connections;
  followers: Followers;
  /** One transaction; resolves when it is durable. */
  commit: <T>(body: (nouns: WriteContext) => T) => Promise<T>;
  relaxed: <T>(body: (nouns: WriteContext) => T) => T;
  wakeBy: (dueAt: number) => void;
  files: (caller: Caller, mayExceedQuota?: boolean) => Vfs;
  /** Files that are kept in repositories. Asks nobody who may. */
  git: GitFiles;
  door: () => Door;
  prepare: (process: ProcessRow, caller: Caller) => Promise<Prepared>;
  judge: Judge;
  /** Processes use their owner's share of the kernel. */
  turns: Turns;
  /** What the owner may use in a day. */
  ownerLimits: (uid: number) => Limits;
  /** The device is told when it is back that nobody wants the call of this key any more. */
  cancelLater: (deviceKey: string, caller: Caller, key: string) => void;
  /** The device is back. */
  cancelNow: (deviceKey: string) => void;
};

export type SendWords = {
  pid?: string | undefined;
  conversationId?: string | undefined;
  message: string;
  media?: readonly Media[] | undefined;
  runId?: string | undefined;
};

const FOLLOWED_MAX = 200;
const AUTOSTART = "Begin with the assignment you were given in your context.";

export class Agents {
  readonly #means: AgentMeans;
  readonly #keeping: Keeping;
  readonly #checkpoints: Checkpoints;
  readonly #signals: ProcessSignals;
  readonly #hearing: Hearing;
  readonly #deviceCalls: DeviceCalls;
  readonly #openCalls: OpenCalls;
  readonly sessions: Sessions;
  readonly #links = new Map<string, KernelLink>();
  readonly ipc: Ipc;
  readonly questions: Questions;

  constructor(means: AgentMeans) {
    this.#means = means;
    const { ports, reads, commit, relaxed, wakeBy } = means;
    const uuid = () => ports.crypto.uuid();
    this.#keeping = new Keeping({
      files: means.files,
      root: () => processCaller(reads, null),
      ownerOf: (process) => processOwner(reads, process),
      uuid,
    });
    this.#checkpoints = new Checkpoints({
      reads,
      git: means.git,
      renewSummary: ({ pid }, material) => this.#call(pid, "renewSummary", material),
      log: ports.log,
    });
    this.#signals = new ProcessSignals({
      sockets: ports.sockets,
      followers: means.followers,
      connections: means.connections,
      reads,
      relaxed,
      turns: means.turns,
    });
    const log = (message: string, fields: Record<string, string>) => ports.log.error(message, fields);
    const send = (process: ProcessRow, args: ProcessArgs<"send">) => this.#send(process, args);
    this.ipc = new Ipc({ reads, uuid, commit, relaxed, send, wakeBy, log });
    this.questions = new Questions({
      reads,
      crypto: ports.crypto,
      commit,
      wakeBy,
      log,
      ask: (pid, name, args) => this.#call(pid, name, args),
    });
    this.#deviceCalls = new DeviceCalls({ devices: reads.devices, now: () => ports.clock.now(), wakeBy });
    this.#openCalls = new OpenCalls({ now: () => ports.clock.now(), wakeBy });
    this.sessions = new Sessions({ reads, relaxed, door: means.door, ownerOf: (process) => processOwner(reads, process), uuid });
    this.#hearing = new Hearing({ reads, relaxed, signals: this.#signals, ipc: this.ipc });
  }

  /** After a start: what was under way goes on, and answers that were given meanwhile are told. */
  begin(): void {
    const { reads, relaxed, followers, connections } = this.#means;
    const gone = followers.connections().filter((connectionId) => connections.caller(connectionId) === undefined);
    if (gone.length > 0) relaxed(({ followers }) => gone.forEach((connectionId) => followers.connectionGone(connectionId)));
    for (const pid of reads.processes.busy()) void this.#wake(pid);
    this.questions.tellAll();
  }

  woke(now: number): void {
    this.ipc.woke(now);
    this.questions.woke(now);
    this.#deviceCalls.woke(now);
    this.#openCalls.woke(now);
  }

  /** A device has connected. */
  deviceCame(deviceKey: string): void {
    this.#means.cancelNow(deviceKey);
    this.#deviceCalls.came(deviceKey);
  }

  nextDueAt(): number | null {
    const parts = [this.ipc, this.questions, this.#deviceCalls, this.#openCalls];
    const due = parts.map((part) => part.nextDueAt()).filter((at) => at !== null);
    return due.length === 0 ? null : Math.min(...due);
  }

  /** A batch was lost, and with it maybe what processes had told. */
  rolledBack(): void {
    for (const pid of this.#means.reads.processes.busy()) void this.#wake(pid);
  }

  /** A person has come: their init exists, and their processes know who they are by now. */
  connected({ uid, process }: Caller): void {
    const { reads, relaxed } = this.#means;
    const init = reads.processes.get(initPid(uid));
    const { username, home } = process;
    if (init === undefined) relaxed((nouns) => makeInit(nouns, process));
    else if (init.username !== username || init.home !== home)
      relaxed(({ processes }) => processes.identityChanged(uid, { username, home }));
  }

  /** The kernel as a process has it. */
  linkTo(pid: string): KernelLink {
    const known = this.#links.get(pid);
    if (known !== undefined) return known;
    const { reads, prepare } = this.#means;
    const { table } = this.#means.door();
    const link = kernelLink(pid, {
      reads,
      keeping: this.#keeping,
      checkpoints: this.#checkpoints,
      questions: this.questions,
      callerOf: (process, call) => this.callerOf(process, call),
      prepare,
      turn: (uid, costMs) => this.#means.turns.wait(uid, costMs),
      ownerLimits: (uid) => this.#means.ownerLimits(uid),
      pass: (caller, frame, signal): Promise<Answer> => Promise.resolve(pass(this.#means.door(), caller, frame, () => signal)),
      heard: (events: readonly ProcessEvent[]) => this.#hearing.heard(pid, events, this.#sending.has(pid)),
      stream: (payload) => {
        const process = reads.processes.get(pid);
        if (process !== undefined) this.#signals.stream(process, payload);
      },
      deviceOf: (caller, { syscall, args }) => (table.get(syscall)?.runs === "hardware" ? routeOrNull(reads, caller, args) : null),
      deviceCalls: this.#deviceCalls,
      openCalls: this.#openCalls,
      sessions: this.sessions,
      cancelLater: this.#means.cancelLater,
      withdraw: (process, runId) =>
        this.#means.relaxed(({ approvals, emit, after, now }) => {
          if (approvals.withdraw(process.pid, runId, now)) after(() => emit.changed(process.uid, ["approvals"]));
        }),
      uuid: () => this.#means.ports.crypto.uuid(),
      incident: (call, uid, error) => this.#means.ports.log.incident(this.#means.ports.crypto.uuid(), { call, uid }, error),
    });
    this.#links.set(pid, link);
    return link;
  }

  ownerOf(pid: string): number {
    return this.#means.reads.processes.get(pid)?.uid ?? -1;
  }

  archiveRootOf(pid: string): string {
    const process = this.#means.reads.processes.get(pid);
    return process === undefined ? `/var/sessions/unknown/${pid}` : archiveRoot(process);
  }

  callerOf(process: ProcessRow, call?: { runId: string; conversationId: string; callId: string; tool: string }): Caller {
    return processCaller(this.#means.reads, process, call);
  }

  /** The process that is meant: the caller's own init where none is named. */
  find(caller: Caller, pid: string | undefined): ProcessRow {
    const { reads } = this.#means;
    const wanted = pid ?? caller.agent?.pid ?? initPid(caller.uid);
    if (pid === undefined && caller.agent === undefined && reads.processes.get(wanted) === undefined) this.connected(caller);
    return reads.processes.toUse(caller, wanted);
  }

  /** Something of a process that changes nothing of how busy it is. */
  async ask<N extends ProcessCall>(
    caller: Caller,
    pid: string | undefined,
    name: N,
    args: ProcessArgs<N>,
  ): Promise<{ pid: string; value: ProcessResult<N> }> {
    const process = this.find(caller, pid);
    return { pid: process.pid, value: await this.#call(process.pid, name, args) };
  }

  /** The same of what may give it work. */
  async give<N extends ProcessCall>(
    caller: Caller,
    pid: string | undefined,
    name: N,
    args: ProcessArgs<N>,
  ): Promise<{ pid: string; value: ProcessResult<N> }> {
    const process = this.find(caller, pid);
    return { pid: process.pid, value: await this.#busily(process, () => this.#call(process.pid, name, args)) };
  }

  async send(caller: Caller, { pid, conversationId, message, media = [], runId = this.#means.ports.crypto.uuid() }: SendWords) {
    if (message.trim() === "" && media.length === 0) fail(400, "message is required");
    // An agent speaks as itself, and never in the name of its user.
    if (caller.agent !== undefined) {
      const { status, runId: run, queued } = await this.ipc.send(caller, { pid: pid ?? caller.agent.pid, conversationId, message });
      return { status, runId: run, ...(queued === undefined ? {} : { queued }) };
    }
    const process = this.find(caller, pid);
    const kept = media.length === 0 ? {} : { media: await this.#keeping.media(process, media) };
    this.#means.relaxed(({ followers, now }) => followers.routed(process.pid, runId, caller.uid, caller.connectionId, now));
    return this.#send(process, { conversationId, said: { role: "user", text: message, ...kept }, runId, reason: "proc.send" });
  }

  async spawn(caller: Caller, args: SpawnArgs) {
    const profile = mustBeProfile(args.profile);
    const { label, prompt, assignment } = args;
    if (!profile.startable && caller.agent !== undefined) fail(403, `A process cannot start another of profile ${profile.id}`);
    const process =
      profile.spawnMode === "singleton" ? await this.#init(caller, assignment?.contextFiles) : await this.#child(caller, args);
    if (assignment?.autoStart === true)
      await this.#send(process, { said: { role: "system", text: AUTOSTART }, reason: "assignment.autostart" });
    if (prompt !== undefined && prompt.trim() !== "")
      await this.#send(process, { said: { role: "user", text: prompt }, reason: "proc.send" });
    const { pid, workspaceId, cwd } = process;
    const named = process.label ?? label?.trim();
    return { ok: true as const, pid, ...(named === undefined ? {} : { label: named }), profile: profile.id, workspaceId, cwd };
  }

  /** Ends a run, and with it what it waits for: its calls, wherever they run, and commands it was just told still run. */
  async abort(caller: Caller, pid: string | undefined, args: ProcessArgs<"abort">) {
    const { pid: found, value } = await this.give(caller, pid, "abort", args);
    const process = this.#means.reads.processes.get(found);
    if (!value.aborted || value.runId === null || process === undefined) return { pid: found, value, stillRunning: [] };
    const calls = await this.#openCalls.stop(found, this.#openCalls.of(found, value.runId), value.runId);
    // Only now: a call that has just ended may have said that its command runs on.
    const left = this.#means.reads.processSessions.awaitedBy(found, value.runId);
    return { pid: found, value, stillRunning: [...calls, ...(await this.#endSessions(process, left))] };
  }

  /** Those that could not be ended in time, or at all. */
  #endSessions(process: ProcessRow, sessions: readonly ProcessSession[]): Promise<StillRunning[]> {
    const late = sessions.map(({ target, command, sessionId }) => ({ target, command, sessionId, why: `${target} has not answered` }));
    return this.#openCalls.within(this.sessions.end(process, sessions), late);
  }

  /**
   * proc.reset and proc.kill: the conversations go, archived first where that is wanted, and what was sent along with them. A workspace
   * keeps what was said.
   */
  async reset(caller: Caller, pid: string | undefined, reason: "process.reset" | "process.kill", archive: boolean) {
    const process = this.find(caller, pid);
    // What comes after it begins anew is not meant.
    const open = this.#openCalls.of(process.pid);
    const left = this.#means.reads.processSessions.of(process.pid);
    const value = await this.#call(process.pid, "reset", { reason, archive, hasWorkspace: this.#checkpoints.isWanted(process) });
    await this.#keeping.forgetMedia(process);
    const calls = await this.#openCalls.stop(process.pid, open);
    const stillRunning = [...calls, ...(await this.#endSessions(process, left))];
    return { ok: true as const, pid: process.pid, ...value, ...(stillRunning.length === 0 ? {} : { stillRunning }) };
  }

  /** What a process did that was not heard of here, and why it could not tell; null for nothing. Being asked, it tells. */
  async unheard({ pid, heardSeq }: ProcessRow): Promise<{ count: number; error: string | null } | null> {
    const { seq, untold } = await this.#call(pid, "state", {});
    return seq > heardSeq ? { count: seq - heardSeq, error: untold?.error ?? null } : null;
  }

  async follow(caller: Caller, pid: string | undefined, after: number | null) {
    if (caller.agent !== undefined) fail(403, "A process has no connection that could be told: read the history instead");
    const process = this.find(caller, pid);
    if (this.#means.followers.countOf(caller.connectionId) >= FOLLOWED_MAX)
      fail(429, `One connection follows at most ${FOLLOWED_MAX} processes: unsubscribe from some`);
    // Before the process is asked: what becomes true meanwhile is told twice rather than not at all, and its number says so.
    this.#means.relaxed(({ followers }) => followers.follow(caller.connectionId, process.pid));
    const answer = await this.#signals.whileBeginning(process, () => this.#call(process.pid, "follow", { after }));
    return { pid: process.pid, ...answer };
  }

  async readMedia(caller: Caller, pid: string | undefined, key: string, mimeType = mediaType(key)) {
    const process = this.find(caller, pid);
    const bytes = await this.#keeping.readMedia(process, key);
    if (bytes === null) fail(404, `No such media: ${key}`);
    if (bytes.length > MEDIA_BYTES_MAX) fail(413, `It is larger than ${MEDIA_BYTES_MAX} bytes: read it as a file at /${key}`);
    return { pid: process.pid, mimeType, size: bytes.length, dataUrl: dataUrl(mimeType, bytes) };
  }

  prepared(caller: Caller, pid: string | undefined) {
    const process = this.find(caller, pid);
    return this.#means.prepare(process, this.callerOf(process));
  }

  /** What the policy would say of a call. */
  preview(caller: Caller, args: PreviewArgs) {
    return this.#means.judge.preview(caller, this.find(caller, undefined), args);
  }

  /** Those that are being given something: what an earlier run tells meanwhile does not make them idle. */
  readonly #sending = new Map<string, number>();

  #send(process: ProcessRow, args: ProcessArgs<"send">): Promise<ProcessResult<"send">> {
    this.#touchWorkspace(process);
    return this.#busily(process, () => this.#call(process.pid, "send", args));
  }

  /** Whatever is said to a process is use of its workspace. Nobody was promised the moment, so it waits for no disk. */
  #touchWorkspace(process: ProcessRow): void {
    const { workspaceId } = process;
    if (workspaceId === null || this.#means.reads.workspaces.find(process, workspaceId) === undefined) return;
    this.#means.relaxed(({ workspaces, now }) => workspaces.touched(workspaceId, now));
  }

  /** On disk before it gets the work, so that a start after a crash wakes it. */
  async #busily<T>({ pid }: ProcessRow, work: () => Promise<T>): Promise<T> {
    this.#sending.set(pid, (this.#sending.get(pid) ?? 0) + 1);
    try {
      if (this.#means.reads.processes.get(pid)?.isBusy !== true) await this.#means.commit(({ processes }) => processes.begun(pid));
      return await work();
    } finally {
      const left = this.#sending.get(pid)! - 1;
      if (left === 0) this.#sending.delete(pid);
      else this.#sending.set(pid, left);
    }
  }

  async #wake(pid: string): Promise<void> {
    try {
      await this.#call(pid, "wake", {});
      const { activeRunId, runnableCount } = await this.#call(pid, "state", {});
      if (activeRunId === null && runnableCount === 0 && !this.#sending.has(pid))
        this.#means.relaxed(({ processes }) => processes.rested(pid));
    } catch (error) {
      this.#means.ports.log.error("a process does not wake", { pid, error: String(error) });
    }
  }

  async #call<N extends ProcessCall>(pid: string, name: N, args: ProcessArgs<N>): Promise<ProcessResult<N>> {
    return (await this.#means.ports.actors.call(`proc:${pid}`, name, args)) as ProcessResult<N>;
  }

  async #init(caller: Caller, contextFiles: readonly ContextFile[] | undefined): Promise<ProcessRow> {
    const { reads, commit } = this.#means;
    const known = reads.processes.get(initPid(caller.uid));
    if (known !== undefined) return known;
    return commit((nouns) => nouns.processes.get(initPid(caller.uid)) ?? makeInit(nouns, caller.process, contextFiles));
  }

  #child(caller: Caller, args: SpawnArgs): Promise<ProcessRow> {
    const parent = this.find(caller, args.parentPid);
    const pid = this.#means.ports.crypto.uuid();
    return this.#means.commit((nouns) => makeChild(nouns, caller, parent, pid, args));
  }
}

/** Where a call goes that may be wrong: then the gate says so. */
function routeOrNull(reads: ReadContext, caller: Caller, args: Record<string, unknown>): Target | null {
  try {
    return route(reads, caller, args);
  } catch {
    return null;
  }
}
