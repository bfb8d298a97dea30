// The kernel's side of agents: starts processes, delivers messages from people and other processes to them, and receives their
// events. This file decides who may use a process. src/process implements what a process does; judge.ts decides what it may do.

import { fail } from "../../lib/sys-error.ts";
import type { Mcp } from "../mcp/mcp.ts";
import type { ProcessArgs, ProcessCall, ProcessResult } from "../../process/actor.ts";
import type { KernelPort } from "../../process/kernel-port.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { RunSettings } from "../../protocol/process-settings.ts";
import type { ContextFile, Media, StartedBy } from "../../protocol/proc-records.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";
import { conversationIdOrDefault } from "../../process/conversation/conversation-calls.ts";
import type { RunReason } from "../../process/rows/runs.ts";
import type { Gate } from "../gate.ts";
import type { GatewayTarget } from "../files/gateway-target.ts";
import { initPidOf, type ProcessRow } from "../nouns/processes.ts";
import type { ProcessSession } from "../nouns/process-sessions.ts";
import type { Part } from "../part.ts";
import type { Repos } from "../repos/repos.ts";
import type { DeviceAbsence } from "../devices/device-absence.ts";
import type { DeviceRouter } from "../devices/device-router.ts";
import type { Store } from "../store.ts";
import type { Sweeper } from "../sweeper.ts";
import type { Shares } from "../fairness/shares.ts";
import { makeProcessCaller } from "./process-caller.ts";
import { Checkpoints } from "./checkpoints.ts";
import { DeviceWaiter } from "./device-waiter.ts";
import { ProcessEvents } from "./process-events.ts";
import { Ipc } from "./ipc.ts";
import type { Judge, PreviewArgs } from "./judge.ts";
import { archiveRoot, makeDataUrl, ProcessFiles, MEDIA_BYTES_MAX, mimeTypeOf } from "./process-files.ts";
import { ProcessGateway, type ProcessServices } from "./process-gateway.ts";
import { OpenCalls, type StillRunning } from "./open-calls.ts";
import type { Preparer } from "./prepare.ts";
import { makeOrigin, withMessageOrigin } from "./postures.ts";
import { mustBeProfile } from "./profiles.ts";
import { Questions } from "./questions.ts";
import { SettingsCalls } from "./settings-calls.ts";
import { ScriptRuns } from "./script-runs.ts";
import { onProcessIdle } from "../schedules/outcome.ts";
import { Watches } from "../watches/watches.ts";
import { BackgroundCommands } from "./background-commands.ts";
import { ProcessSignals } from "./process-signals.ts";
import type { UserSettings } from "./user-settings.ts";
import { makeChild, makeInit, type SpawnArgs } from "./spawn.ts";

/** Parts of the kernel that agents work with. */
export type AgentServices = {
  gate: Gate;
  judge: Judge;
  shares: Shares;
  gatewayTarget: GatewayTarget;
  repos: Repos;
  deviceRouter: DeviceRouter;
  deviceAbsence: DeviceAbsence;
  preparer: Preparer;
  settings: UserSettings;
  sweeper: Sweeper;
  mcp: Mcp;
};

export type SendArgs = {
  pid?: string | undefined;
  conversationId?: string | undefined;
  message: string;
  media?: readonly Media[] | undefined;
  runId?: string | undefined;
  settings?: RunSettings | undefined;
};

const FOLLOWS_MAX = 200;
const AUTOSTART = "Begin with the assignment you were given in your context.";

export class Agents implements Part {
  readonly #store: Store;
  readonly #services: AgentServices;
  readonly #files: ProcessFiles;
  readonly #checkpoints: Checkpoints;
  readonly #signals: ProcessSignals;
  readonly #deviceWaiter: DeviceWaiter;
  readonly #openCalls: OpenCalls;
  readonly #processServices: ProcessServices;
  readonly backgroundCommands: BackgroundCommands;
  readonly #kernelPorts = new Map<string, KernelPort>();
  readonly ipc: Ipc;
  readonly watches: Watches;
  readonly questions: Questions;
  /** What people set for processes and conversations. */
  readonly settings: SettingsCalls;
  /** Scripts that people run. */
  readonly scripts: ScriptRuns;
  /** Sends in progress by pid: while there is one, an event of an earlier run must not mark the process idle. */
  readonly #sending = new Map<string, number>();

  constructor(store: Store, services: AgentServices) {
    this.#store = store;
    this.#services = services;
    const { gate, shares, gatewayTarget, repos, deviceRouter, preparer, settings, sweeper, mcp } = services;
    this.#files = new ProcessFiles(store, gatewayTarget);
    this.#checkpoints = new Checkpoints(store, repos.files, ({ pid }, material) => this.#call(pid, "renewSummary", material));
    this.#signals = new ProcessSignals(store, shares);
    this.ipc = new Ipc(store, (process, args) => this.#send(process, args));
    this.watches = new Watches(store, { gate, shares, sendOnce: (caller, pid, message) => this.sendOnce(caller, pid, message) });
    this.questions = new Questions(store, (pid, name, args) => this.#call(pid, name, args));
    this.settings = new SettingsCalls(store, settings, (pid, name, args) => this.#call(pid, name, args));
    this.#deviceWaiter = new DeviceWaiter(store);
    this.#openCalls = new OpenCalls(store);
    this.backgroundCommands = new BackgroundCommands(store, gate);
    this.scripts = new ScriptRuns(store, gate, this.backgroundCommands, (pid, name, args) => this.#call(pid, name, args));
    this.#processServices = {
      gate,
      shares,
      preparer,
      settings,
      deviceRouter,
      sweeper,
      files: this.#files,
      checkpoints: this.#checkpoints,
      questions: this.questions,
      scripts: this.scripts,
      mcp,
      events: new ProcessEvents(store, this.#signals, this.ipc, this.watches),
      signals: this.#signals,
      deviceWaiter: this.#deviceWaiter,
      openCalls: this.#openCalls,
      backgroundCommands: this.backgroundCommands,
      sending: this.#sending,
    };
  }

  /** The kernel calls their hooks in this order. */
  get parts(): readonly Part[] {
    return [this, this.ipc, this.watches, this.questions, this.settings, this.#deviceWaiter, this.#openCalls];
  }

  /** Removes followers whose connections are gone, and wakes processes that were busy, so that their runs continue. */
  begin(): void {
    const { followers, connections } = this.#store.reads;
    const stale = followers.listConnectionIds().filter((connectionId) => connections.caller(connectionId) === undefined);
    if (stale.length > 0) this.#store.relaxed(({ followers }) => stale.forEach((connectionId) => followers.removeConnection(connectionId)));
    this.#wakeBusy();
  }

  /** The lost batch may have held events of processes. A woken process sends them again. */
  onRollback(): void {
    this.#wakeBusy();
  }

  /** A device has connected. */
  onDeviceConnected(deviceKey: string): void {
    this.#services.deviceRouter.onDeviceConnected(deviceKey);
    this.#services.deviceAbsence.onDeviceConnected(deviceKey);
    this.#deviceWaiter.onDeviceConnected(deviceKey);
  }

  /** A person has connected: makes their init if it is missing, and updates their name and home in the rows of their processes. */
  onPersonConnected({ uid, process }: Caller): void {
    const { reads } = this.#store;
    const init = reads.processes.get(initPidOf(uid));
    const { username, home } = process;
    if (init === undefined) this.#store.relaxed((nouns) => makeInit(nouns, process));
    else if (init.username !== username || init.home !== home)
      this.#store.relaxed(({ processes }) => processes.updateIdentity(uid, { username, home }));
  }

  /** The kernel as seen by one process. */
  kernelPortFor(pid: string): KernelPort {
    const known = this.#kernelPorts.get(pid);
    if (known !== undefined) return known;
    const port = new ProcessGateway(pid, this.#store, this.#processServices);
    this.#kernelPorts.set(pid, port);
    return port;
  }

  ownerUidOf(pid: string): number {
    return this.#store.reads.processes.get(pid)?.uid ?? -1;
  }

  archiveRootOf(pid: string): string {
    const process = this.#store.reads.processes.get(pid);
    return process === undefined ? `/var/sessions/unknown/${pid}` : archiveRoot(process);
  }

  /** The process with this pid. Without a pid: the calling process itself, or the user's init. */
  requireProcess(caller: Caller, pid: string | undefined): ProcessRow {
    const { reads } = this.#store;
    const wantedPid = pid ?? caller.agent?.pid ?? initPidOf(caller.uid);
    if (pid === undefined && caller.agent === undefined && reads.processes.get(wantedPid) === undefined) this.onPersonConnected(caller);
    return reads.processes.requireUsable(caller, wantedPid);
  }

  /** Calls a process for something that gives it no work. */
  async ask<N extends ProcessCall>(
    caller: Caller,
    pid: string | undefined,
    name: N,
    args: ProcessArgs<N>,
  ): Promise<{ pid: string; value: ProcessResult<N> }> {
    const process = this.requireProcess(caller, pid);
    return { pid: process.pid, value: await this.#call(process.pid, name, args) };
  }

  /** Calls a process for something that may give it work: marks it busy first. */
  async markBusyAndCall<N extends ProcessCall>(
    caller: Caller,
    pid: string | undefined,
    name: N,
    args: ProcessArgs<N>,
  ): Promise<{ pid: string; value: ProcessResult<N> }> {
    const process = this.requireProcess(caller, pid);
    return { pid: process.pid, value: await this.#markBusyAndRun(process, () => this.#call(process.pid, name, args)) };
  }

  async send(caller: Caller, { pid, conversationId, message, media = [], runId = this.#store.ports.crypto.uuid(), settings }: SendArgs) {
    if (message.trim() === "" && media.length === 0) fail(400, "message is required");
    // An agent sends as itself, never as its user.
    if (caller.agent !== undefined) {
      if (settings !== undefined) fail(403, "A process cannot choose settings for a message: a person does that");
      const { status, runId: run, queued } = await this.ipc.send(caller, { pid: pid ?? caller.agent.pid, conversationId, message });
      return { status, runId: run, ...(queued === undefined ? {} : { queued }) };
    }
    const process = this.requireProcess(caller, pid);
    if (settings !== undefined) this.settings.checkForMessage(process, settings);
    const attachments = media.length === 0 ? {} : { media: await this.#files.storeMedia(process, media) };
    this.#store.relaxed(({ followers, now }) => followers.recordRoute(process.pid, runId, caller.uid, caller.connectionId, now));
    return this.#send(process, {
      conversationId,
      message: { role: "user", text: message, ...attachments },
      runId,
      reason: "proc.send",
      settings,
    });
  }

  async spawn(caller: Caller, args: SpawnArgs) {
    const profile = mustBeProfile(args.profile);
    const { label, prompt, assignment } = args;
    if (!profile.startable && caller.agent !== undefined) fail(403, `A process cannot start one with profile ${profile.id}`);
    const process =
      profile.spawnMode === "singleton"
        ? await this.#findOrMakeInit(caller, assignment?.contextFiles)
        : await this.#makeChild(caller, args);
    if (assignment?.autoStart === true)
      await this.#sendFor(caller, process, { message: { role: "system", text: AUTOSTART }, reason: "assignment.autostart" });
    if (prompt !== undefined && prompt.trim() !== "")
      await this.#sendFor(caller, process, { message: { role: "user", text: prompt }, reason: "proc.send" });
    const { pid, workspaceId, cwd } = process;
    const finalLabel = process.label ?? label?.trim();
    return { ok: true as const, pid, ...(finalLabel === undefined ? {} : { label: finalLabel }), profile: profile.id, workspaceId, cwd };
  }

  /**
   * Starts a process with a prompt, for a schedule. Repeated with the same ids it changes nothing, so a start that a crash interrupted
   * can be repeated. A process that exists was used for earlier runs: it is emptied first, and its conversations are archived. Null if
   * somebody else uses that one.
   */
  async spawnOnce(
    caller: Caller,
    args: SpawnArgs,
    { pid, ...first }: { pid: string; runId: string; prompt: string; startedBy: StartedBy },
  ) {
    const { runId, prompt, startedBy } = first;
    const isSingle = mustBeProfile(args.profile).spawnMode === "singleton";
    const known = isSingle ? undefined : this.#store.reads.processes.get(pid);
    const process = isSingle ? await this.#findOrMakeInit(caller, undefined) : (known ?? (await this.#makeChild(caller, args, pid)));
    if (known !== undefined) {
      const found = await this.#call(pid, "checkForSchedule", { runId });
      if (found === "taken") return null;
      if (found === "free") {
        await this.reset(caller, pid, "process.reset", true);
        this.#store.relaxed(({ processes }) => processes.setLabel(pid, args.label?.trim() || null));
      }
    }
    const message = { role: "user" as const, text: prompt };
    await this.#send(process, { message, runId, reason: "schedule.event", startedBy: withoutHome(process, startedBy) });
    return { pid: process.pid, conversationId: DEFAULT_CONVERSATION };
  }

  /** Sends a message of the system to a process. Repeated with the same run id it is the same message. */
  async sendOnce(
    caller: Caller,
    pid: string,
    {
      conversationId,
      text,
      startedBy,
      ...run
    }: { conversationId?: string | undefined; text: string; runId: string; reason: RunReason; startedBy?: StartedBy | undefined },
  ): Promise<void> {
    const process = this.requireProcess(caller, pid);
    const starter = conversationId === undefined ? withoutHome(process, startedBy) : startedBy;
    await this.#send(process, { conversationId, message: { role: "system", text }, ...run, startedBy: starter });
  }

  /** Ends a run and everything it waits for: its open calls on every target, and commands that its last calls left running. */
  async abort(caller: Caller, pid: string | undefined, args: ProcessArgs<"abort">) {
    const { pid: found, value } = await this.markBusyAndCall(caller, pid, "abort", args);
    const process = this.#store.reads.processes.get(found);
    if (!value.aborted || value.runId === null || process === undefined) return { pid: found, value, stillRunning: [] };
    const calls = await this.#openCalls.stop(found, this.#openCalls.listByProcess(found, value.runId), value.runId);
    // Read after the calls have ended: one of them may have answered that its command is still running.
    const sessions = this.#store.reads.processSessions.listAwaited(found, value.runId);
    return { pid: found, value, stillRunning: [...calls, ...(await this.#endSessions(process, sessions))] };
  }

  /** Ends commands. Returns those that could not be ended, or not in time. */
  #endSessions(process: ProcessRow, sessions: readonly ProcessSession[]): Promise<StillRunning[]> {
    const unanswered = sessions.map(({ target, command, sessionId }) => ({
      target,
      command,
      sessionId,
      why: `${target} has not answered`,
    }));
    return this.#openCalls.waitWithTimeout(this.backgroundCommands.end(process, sessions), unanswered);
  }

  /**
   * proc.reset and proc.kill: deletes the conversations and their media, after archiving the conversations if `archive` is set. If the
   * process works in a workspace, the messages are committed there.
   */
  async reset(caller: Caller, pid: string | undefined, reason: "process.reset" | "process.kill", archive: boolean) {
    const process = this.requireProcess(caller, pid);
    // Read before the reset: calls and commands that start after it continue.
    const open = this.#openCalls.listByProcess(process.pid);
    const sessions = this.#store.reads.processSessions.listByProcess(process.pid);
    const value = await this.#call(process.pid, "reset", { reason, archive, hasWorkspace: this.#checkpoints.isWanted(process) });
    if (reason === "process.kill") await this.#store.commit(({ processSettings }) => processSettings.removeProcess(process.pid));
    await this.#files.deleteMedia(process);
    const calls = await this.#openCalls.stop(process.pid, open);
    const stillRunning = [...calls, ...(await this.#endSessions(process, sessions))];
    return { ok: true as const, pid: process.pid, ...value, ...(stillRunning.length === 0 ? {} : { stillRunning }) };
  }

  /** Its files and settings first: if that fails, or the gateway stops, the conversation is still there to be deleted again. */
  async deleteConversation(caller: Caller, pid: string | undefined, given: string | undefined) {
    const process = this.requireProcess(caller, pid);
    const conversationId = conversationIdOrDefault(given);
    const { own } = await this.#files.listArchives(process, conversationId);
    const files = await this.#call(process.pid, "endConversation", { conversationId, archives: own });
    // Listed only now: what was archived since the process has read the messages of other conversations was still among those.
    const { others } = await this.#files.listArchives(process, conversationId);
    const paths = await this.#call(process.pid, "listUnreferenced", { paths: files, archives: others });
    await this.#files.deleteConversation(process, conversationId, paths);
    await this.#store.commit(({ processSettings }) => processSettings.removeConversation(process.pid, conversationId));
    const receivedSeq = this.#store.reads.processes.get(process.pid)?.heardSeq ?? 0;
    await this.#call(process.pid, "deleteConversation", { conversationId, receivedSeq });
    return { ok: true as const, pid: process.pid, conversationId };
  }

  /** How many events of a process the kernel has not received, and why they failed; null for none. The question makes it send them. */
  async checkDelivery({ pid, heardSeq }: ProcessRow): Promise<{ count: number; error: string | null } | null> {
    const { seq, undelivered } = await this.#call(pid, "state", {});
    return seq > heardSeq ? { count: seq - heardSeq, error: undelivered?.error ?? null } : null;
  }

  async follow(caller: Caller, pid: string | undefined, after: number | null) {
    if (caller.agent !== undefined) fail(403, "A process has no connection to send events to: read the history instead");
    const process = this.requireProcess(caller, pid);
    if (this.#store.reads.followers.countFollowedBy(caller.connectionId) >= FOLLOWS_MAX)
      fail(429, `A connection can follow at most ${FOLLOWS_MAX} processes: unsubscribe from some`);
    // Before the process is called: an event in between is then sent twice rather than never, and clients drop it by its number.
    this.#store.relaxed(({ followers }) => followers.follow(caller.connectionId, process.pid));
    const answer = await this.#signals.withSinglePieces(process, () => this.#call(process.pid, "follow", { after }));
    return { pid: process.pid, ...answer };
  }

  async readMedia(caller: Caller, pid: string | undefined, key: string, mimeType = mimeTypeOf(key)) {
    const process = this.requireProcess(caller, pid);
    const bytes = await this.#files.readMedia(process, key);
    if (bytes === null) fail(404, `No such media: ${key}`);
    if (bytes.length > MEDIA_BYTES_MAX) fail(413, `It is larger than ${MEDIA_BYTES_MAX} bytes: read it as a file at /${key}`);
    return { pid: process.pid, mimeType, size: bytes.length, dataUrl: makeDataUrl(mimeType, bytes) };
  }

  prepare(caller: Caller, pid: string | undefined, conversationId: string | undefined) {
    const process = this.requireProcess(caller, pid);
    const prepared = { conversationId: conversationIdOrDefault(conversationId), caller: makeProcessCaller(this.#store.reads, process) };
    return this.#services.preparer.prepare({ ...process, ...prepared });
  }

  /** The skills of a process. Without a pid: of the calling process, or of a person's init as it is without a workspace. */
  async listSkills(caller: Caller, pid: string | undefined) {
    const { preparer } = this.#services;
    // Asks no process, so that a person who has none yet does not get one by looking.
    if (pid === undefined && caller.agent === undefined)
      return preparer.listSkills({ ...caller, process: { ...caller.process, workspaceId: null } }, "init");
    const process = this.requireProcess(caller, pid);
    return preparer.listSkills(makeProcessCaller(this.#store.reads, process), process.profile);
  }

  /** What the policy would decide about a call. */
  previewDecision(caller: Caller, args: PreviewArgs) {
    return this.#services.judge.preview(caller, this.requireProcess(caller, undefined), args);
  }

  /** For an agent or a person. */
  async #sendFor({ agent }: Caller, process: ProcessRow, args: ProcessArgs<"send">): Promise<ProcessResult<"send">> {
    if (agent === undefined) return this.#send(process, args);
    const runId = this.#store.ports.crypto.uuid();
    const target = { pid: process.pid, runId, conversationId: DEFAULT_CONVERSATION };
    return withMessageOrigin(this.#store, agent, target, () => this.#send(process, { ...args, runId }));
  }

  #send(process: ProcessRow, args: ProcessArgs<"send">): Promise<ProcessResult<"send">> {
    this.#touchWorkspace(process);
    return this.#markBusyAndRun(process, () => this.#call(process.pid, "send", args));
  }

  /** A message to a process counts as use of its workspace. The time is promised to nobody, so the write is relaxed. */
  #touchWorkspace(process: ProcessRow): void {
    const { workspaceId } = process;
    if (workspaceId === null || this.#store.reads.workspaces.find(process, workspaceId) === undefined) return;
    this.#store.relaxed(({ workspaces, now }) => workspaces.touch(workspaceId, now));
  }

  /** Marks the process busy before it gets the work: whatever of that survives a crash, the next start wakes the process. */
  async #markBusyAndRun<T>({ pid }: ProcessRow, work: () => Promise<T>): Promise<T> {
    this.#sending.set(pid, (this.#sending.get(pid) ?? 0) + 1);
    try {
      if (this.#store.reads.processes.get(pid)?.isBusy !== true) this.#store.write(({ processes }) => processes.markBusy(pid));
      const value = await work();
      // That row may have been refused while the process was still being opened, and the process has the work nevertheless.
      if (this.#store.reads.processes.get(pid)?.isBusy === false) void this.#markBusyIfAtWork(pid);
      return value;
    } finally {
      const remaining = this.#sending.get(pid)! - 1;
      if (remaining === 0) this.#sending.delete(pid);
      else this.#sending.set(pid, remaining);
    }
  }

  async #markBusyIfAtWork(pid: string): Promise<void> {
    try {
      const { activeRunId, runnableCount } = await this.#call(pid, "state", {});
      if (activeRunId !== null || runnableCount > 0) this.#store.relaxed(({ processes }) => processes.markBusy(pid));
    } catch (error) {
      this.#store.ports.log.error("a process could not be marked busy", { pid, error: String(error) });
    }
  }

  #wakeBusy(): void {
    for (const pid of this.#store.reads.processes.listBusy()) void this.#wake(pid);
  }

  async #wake(pid: string): Promise<void> {
    try {
      await this.#call(pid, "wake", {});
      // Read before the state: what is sent from now on is not among them.
      const sent = this.#sending.has(pid) ? [] : this.#store.reads.processOrigins.listRunIds(pid);
      const { activeRunId, queuedCount, runnableCount } = await this.#call(pid, "state", {});
      if (activeRunId === null && runnableCount === 0 && !this.#sending.has(pid))
        this.#store.relaxed((nouns) => {
          nouns.processes.markIdle(pid);
          // A crash lost these messages before the process had them. Those on hold still wait.
          if (queuedCount === 0) for (const runId of sent) nouns.processOrigins.removeMessage(pid, runId);
          onProcessIdle(nouns, pid);
        });
    } catch (error) {
      this.#store.ports.log.error("a process could not be woken", { pid, error: String(error) });
    }
  }

  async #call<N extends ProcessCall>(pid: string, name: N, args: ProcessArgs<N>): Promise<ProcessResult<N>> {
    return (await this.#store.ports.processes.call(pid, name, args)) as ProcessResult<N>;
  }

  async #findOrMakeInit(caller: Caller, contextFiles: readonly ContextFile[] | undefined): Promise<ProcessRow> {
    const { reads } = this.#store;
    const known = reads.processes.get(initPidOf(caller.uid));
    if (known !== undefined) return known;
    return this.#store.commit((nouns) => nouns.processes.get(initPidOf(caller.uid)) ?? makeInit(nouns, caller.process, contextFiles));
  }

  #makeChild(caller: Caller, args: SpawnArgs, pid = this.#store.ports.crypto.uuid()): Promise<ProcessRow> {
    const parent = this.requireProcess(caller, args.parentPid);
    return this.#store.commit((nouns) => {
      // The agent that starts it, whichever parent it names.
      if (caller.agent !== undefined) nouns.processOrigins.addProcess(pid, makeOrigin(this.#store.reads, caller.agent));
      return makeChild(nouns, caller, parent, pid, args);
    });
  }
}

/** The first conversation of a person's init is theirs, whoever says something there first. */
function withoutHome({ pid, uid }: ProcessRow, startedBy: StartedBy | undefined): StartedBy | undefined {
  return pid === initPidOf(uid) ? undefined : startedBy;
}
