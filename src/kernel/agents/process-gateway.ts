// The kernel as seen by one process (process/kernel-port.ts): runs its calls through the gate as its user, stores its files, and
// receives its events. Processes are not trusted: their rights are looked up again for every call.

import { capText, type ToolOutcome, renderToolOutcome, UNKNOWN_OUTCOME } from "../../agent/tool-text.ts";
import { MCP_CALL } from "../../approval/request.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { ScriptFunction } from "../../ports/sandbox.ts";
import type { StoredMedia } from "../../process/rows/history.ts";
import { isScriptCallId } from "../../sandbox/script-calls.ts";
import {
  type Checkpoint,
  type KernelPort,
  type PersonalScriptCall,
  type Preparation,
  type QuestionsAbout,
  type ScriptCallOutcome,
  STOPPED,
  type SysCall,
  type SysOutcome,
} from "../../process/kernel-port.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Req } from "../../protocol/frames.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import type { RunSettings } from "../../protocol/process-settings.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { namesDevice, NATIVE } from "../../lib/target.ts";
import { callsByName } from "../calls/table.ts";
import { toSysError } from "../failure.ts";
import type { CallAnswer, Gate } from "../gate.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { type Target, resolveTargetDevice } from "../target.ts";
import type { DeviceRouter } from "../devices/device-router.ts";
import type { Store } from "../store.ts";
import type { Sweeper } from "../sweeper.ts";
import type { Shares } from "../fairness/shares.ts";
import { type CallOfProcess, makeProcessCaller } from "./process-caller.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { DeviceWaiter } from "./device-waiter.ts";
import type { ProcessEvents } from "./process-events.ts";
import { ApprovalRequired } from "./judge.ts";
import type { ProcessFiles } from "./process-files.ts";
import { isUnknownOutcome, type OpenCalls } from "./open-calls.ts";
import type { Preparer } from "./prepare.ts";
import { announceClosedQuestions } from "./question-notices.ts";
import { makeHilRequest } from "./question-records.ts";
import type { Questions } from "./questions.ts";
import type { Mcp } from "../mcp/mcp.ts";
import type { ScriptRuns } from "./script-runs.ts";
import type { BackgroundCommands } from "./background-commands.ts";
import type { ProcessSignals } from "./process-signals.ts";
import type { UserSettings } from "./user-settings.ts";

/** Parts of the kernel that all processes share. */
export type ProcessServices = {
  gate: Gate;
  shares: Shares;
  preparer: Preparer;
  settings: UserSettings;
  files: ProcessFiles;
  checkpoints: Checkpoints;
  questions: Questions;
  scripts: ScriptRuns;
  mcp: Mcp;
  events: ProcessEvents;
  signals: ProcessSignals;
  deviceWaiter: DeviceWaiter;
  openCalls: OpenCalls;
  backgroundCommands: BackgroundCommands;
  deviceRouter: DeviceRouter;
  sweeper: Sweeper;
  /** Sends in progress by pid: while there is one, an event of an earlier run must not mark the process idle. */
  sending: ReadonlyMap<string, number>;
};

/** Rough kernel time to prepare a run, and for a call together with the model call that follows it. */
const PREPARE_MS = 1;
const CALL_MS = 3;

/** How much of the result of a script's call people are shown. */
const SHOWN_CHARS = 2_000;

/** Methods are properties, because hosts wrap a port by spreading it. */
export class ProcessGateway implements KernelPort {
  readonly #pid: string;
  readonly #store: Store;
  readonly #services: ProcessServices;

  constructor(pid: string, store: Store, services: ProcessServices) {
    this.#pid = pid;
    this.#store = store;
    this.#services = services;
  }

  readonly prepare = async (conversationId: string, settings?: RunSettings): Promise<Preparation> => {
    await this.#services.shares.waitForTurn(this.#requireProcess().uid, PREPARE_MS);
    const process = this.#requireProcess();
    return this.#services.preparer.prepare({ ...process, conversationId, settings, caller: this.#callerOf(process) });
  };

  readonly emit = (events: readonly ProcessEvent[]): void => {
    this.#services.sweeper.scheduleSweep();
    this.#services.events.record(this.#pid, events, this.#services.sending.has(this.#pid));
  };

  readonly lastReceivedSeq = async (): Promise<number> => {
    return this.#findProcess()?.heardSeq ?? 0;
  };

  /** Called before every model call; fails for a locked user, whose processes must not call models. */
  readonly readOwnerAccount = async () => {
    const { reads } = this.#store;
    const { uid } = this.#callerOf(this.#requireProcess());
    return { limits: this.#services.settings.of(uid).budgets.user, account: reads.spending.readToday(uid, reads.now) };
  };

  readonly askForBudget = async (question: Parameters<KernelPort["askForBudget"]>[0]): Promise<HilRequest> => {
    return this.#services.questions.askForBudget(this.#requireProcess(), question);
  };

  readonly listScriptFunctions = async (): Promise<readonly ScriptFunction[]> => {
    return this.#services.mcp.functionsFor(this.#callerOf(this.#requireProcess()));
  };

  readonly runScriptCall = async (call: PersonalScriptCall, signal: AbortSignal): Promise<ScriptCallOutcome> => {
    return this.#services.scripts.runCall(this.#pid, call, signal);
  };

  readonly withdrawQuestions = async (runId: string, about: QuestionsAbout): Promise<void> => {
    this.#withdrawQuestions(this.#requireProcess(), runId, about);
  };

  readonly storeOutput = async (callId: string, text: string): Promise<string> => {
    return this.#services.files.storeOutput(this.#requireProcess(), callId, text);
  };

  readonly readMedia = async (key: string): Promise<Uint8Array | null> => {
    return this.#services.files.readMedia(this.#requireProcess(), key);
  };

  readonly archive = async (path: string, bytes: Uint8Array): Promise<void> => {
    return this.#services.files.archive(this.#requireProcess(), path, bytes);
  };

  readonly readArchive = async (path: string): Promise<Uint8Array> => {
    return (await this.#services.files.read(this.#requireProcess(), path)) ?? fail(404, `The archive is gone: ${path}`);
  };

  readonly checkpoint = async (checkpoint: Checkpoint): Promise<void> => {
    return this.#services.checkpoints.store(this.#requireProcess(), checkpoint);
  };

  readonly stream = (piece: AnswerPiece): void => {
    const process = this.#findProcess();
    if (process !== undefined) this.#services.signals.stream(process, piece);
  };

  readonly runSyscall = async (sys: SysCall, signal: AbortSignal, onStart: () => void): Promise<SysOutcome> => {
    const process = this.#findProcess();
    if (process === undefined) return makeErrorOutcome(`Error: Process not found: ${this.#pid}`);
    this.#services.sweeper.scheduleSweep();
    await this.#services.shares.waitForTurn(process.uid, CALL_MS);
    try {
      const base = this.#callerOf(process, sys);
      const caller: Caller = { ...base, agent: { ...base.agent!, onStart } };
      const key = idempotencyKeyOf(sys);
      // The process itself runs a script, so the kernel may allow it as often as it is asked.
      if (callsByName.get(sys.syscall)?.runs === "sandbox") return await this.#allowScript(sys, caller, signal);
      if (sys.isRepeat && key === undefined && callsByName.get(sys.syscall)?.does !== "read" && !this.#hasNotStarted(sys))
        return makeErrorOutcome(`Error: The gateway stopped while this was running. ${UNKNOWN_OUTCOME}`);
      const device = this.#deviceOf(caller, sys);
      this.#services.backgroundCommands.onCall(process, sys);
      const target = device?.name ?? this.#mcpServerNameOf(caller, sys) ?? NATIVE;
      const about = { pid: this.#pid, runId: sys.runId, callId: sys.callId, target, command: describeCall(sys) };
      const answer = await this.#services.openCalls.run(about, signal, (stopping) => this.#send(sys, caller, key, device, stopping));
      for (const action of answer.after) action();
      this.#services.backgroundCommands.recordAnswer(process, sys, device?.name ?? NATIVE, answer.data);
      return sys.scriptCallId === undefined
        ? await this.#toOutcome(process, { ok: true, data: answer.data })
        : toScriptCallOutcome({ ok: true, data: answer.data });
    } catch (error) {
      if (error instanceof ApprovalRequired) {
        // The run, or the script that makes the call, was stopped while the call was being judged: nobody needs to answer.
        if (signal.reason === STOPPED)
          this.#withdrawQuestions(process, sys.runId, sys.scriptCallId === undefined ? undefined : { calls: [sys.callId] });
        return { kind: "asked", request: makeHilRequest(error.approval) };
      }
      const failure: ToolOutcome = { ok: false, error: this.#toErrorShape(process, sys.syscall, error) };
      const outcome = sys.scriptCallId === undefined ? await this.#toOutcome(process, failure) : toScriptCallOutcome(failure);
      return isDenied(error) && outcome.kind === "done" ? { ...outcome, outcome: "denied" } : outcome;
    }
  };

  #mcpServerNameOf({ uid }: Caller, { syscall, args }: SysCall): string | null {
    if (syscall !== MCP_CALL) return null;
    const server = this.#store.reads.mcpServers.addressOf(String(args.serverId));
    return server?.uid === uid ? server.name : null;
  }

  async #allowScript({ syscall, args, isRepeat }: SysCall, caller: Caller, signal: AbortSignal): Promise<SysOutcome> {
    const sender: Caller = isRepeat ? { ...caller, agent: { ...caller.agent!, isRepeat: true } } : caller;
    await this.#services.gate.call(sender, syscall, args, signal);
    return { kind: "done", isError: false, output: "" };
  }

  /** Sends a call through the gate, and repeats it while its device may come back. */
  async #send(sys: SysCall, caller: Caller, key: string | undefined, device: Target | null, signal: AbortSignal): Promise<CallAnswer> {
    const { gate, deviceWaiter, deviceRouter } = this.#services;
    const frame: Req = { type: "req", id: this.#store.ports.crypto.uuid(), call: sys.syscall, args: sys.args };
    const repeated: Caller = { ...caller, agent: { ...caller.agent!, isRepeat: true } };
    // The call may run on the device if it was sent before a restart of the process, or if the answer to a try was lost.
    let mayRun = sys.isRepeat;
    const send = async (isRepeat: boolean): Promise<CallAnswer> => {
      const sender = isRepeat || (sys.isRepeat && key !== undefined) ? repeated : caller;
      try {
        return await gate.runRequest(sender, key === undefined ? frame : { ...frame, key }, () => signal);
      } catch (error) {
        // Refused only because this call takes no key, before anything ran: send it again without one.
        if (!sys.isRepeat && !isRepeat && isKeyRefused(error)) return gate.runRequest(repeated, frame, () => signal);
        mayRun ||= isUnknownOutcome(error);
        throw error;
      }
    };
    if (device === null) return send(false);
    try {
      return await deviceWaiter.run(device.key, send, signal);
    } catch (error) {
      if (signal.reason !== STOPPED || key === undefined || !mayRun || error instanceof ApprovalRequired) throw error;
      deviceRouter.cancelLater(device.key, caller, key);
      throw isUnknownOutcome(error) ? error : new SysError(503, errorMessageOf(error), { outcome: "unknown" });
    }
  }

  /** Null for the gateway, and for an invalid call, which the gate refuses. */
  #deviceOf(caller: Caller, { syscall, args }: SysCall): Target | null {
    const call = callsByName.get(syscall);
    try {
      return call === undefined ? null : resolveTargetDevice(this.#store.reads, caller, call, args);
    } catch {
      return null;
    }
  }

  #findProcess(): ProcessRow | undefined {
    return this.#store.reads.processes.get(this.#pid);
  }

  #requireProcess(): ProcessRow {
    return this.#findProcess() ?? fail(404, `Process not found: ${this.#pid}`);
  }

  #callerOf(process: ProcessRow, call?: CallOfProcess): Caller {
    return makeProcessCaller(this.#store.reads, process, call);
  }

  /** A person was asked about the call and no approval was used: so it has not started, even if the process restarted meanwhile. */
  #hasNotStarted({ runId, callId }: SysCall): boolean {
    const question = this.#store.reads.approvals.findByCall(this.#pid, callId);
    return question !== undefined && question.runId === runId && question.state !== "used";
  }

  /** Withdraws the open questions of a run that is over, or only some of them. */
  #withdrawQuestions(process: ProcessRow, runId: string, about?: QuestionsAbout): void {
    const isMeant = (callId: string) => {
      if (about === undefined) return true;
      return "calls" in about ? about.calls.includes(callId) : isScriptCallId(callId) && !about.scriptsExcept.includes(callId);
    };
    this.#store.relaxed((nouns) => {
      announceClosedQuestions(nouns, process.uid, nouns.approvals.withdraw(process.pid, runId, nouns.now, isMeant));
    });
  }

  async #toOutcome(process: ProcessRow, outcome: ToolOutcome): Promise<SysOutcome> {
    const { text, images, isError } = renderToolOutcome(outcome);
    const stored: StoredMedia[] = [];
    for (const { mimeType, data } of images) stored.push(await this.#services.files.storePicture(process, mimeType, data));
    return { kind: "done", isError, output: text, ...(stored.length === 0 ? {} : { images: stored }) };
  }

  #toErrorShape({ uid }: ProcessRow, call: string, error: unknown): { message: string; details?: unknown } {
    const { log, crypto } = this.#store.ports;
    return toSysError(error, () => log.reportIncident(crypto.uuid(), { call, uid }, error)).toShape();
  }
}

/** The result as a script gets it, and a short form of it for people. */
function toScriptCallOutcome(outcome: ToolOutcome): SysOutcome {
  const { text, isError } = renderToolOutcome(outcome);
  const shown = isError ? text.replace(/^Error: /, "") : text;
  if (!outcome.ok) return makeErrorOutcome(shown);
  return { kind: "done", isError, output: capText(shown, SHOWN_CHARS, null).text, json: JSON.stringify(outcome.data) };
}

function errorMessageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For the person who stopped the call: the command, the tool of a server, or the name of the call. */
function describeCall({ syscall, args }: SysCall): string {
  if (syscall === MCP_CALL && typeof args.name === "string") return args.name;
  return syscall === "shell.exec" && typeof args.input === "string" && args.input !== "" ? args.input : syscall;
}

function isDenied(error: unknown): boolean {
  return error instanceof SysError && (error.details as { outcome?: unknown } | undefined)?.outcome === "denied";
}

function isKeyRefused(error: unknown): boolean {
  return error instanceof SysError && (error.details as { takesKey?: unknown } | undefined)?.takesKey === false;
}

/** The idempotency key, for calls that a device or the kernel's stored results run at most once. */
function idempotencyKeyOf({ runId, callId, syscall, args }: SysCall): string | undefined {
  const call = callsByName.get(syscall);
  if (call === undefined || call.does === "read") return undefined;
  const isOnDevice = call.runs === "hardware" && namesDevice(args);
  return isOnDevice || (call.runs === "kernel" && call.does === "write") ? `${runId}/${callId}`.slice(0, 200) : undefined;
}

function makeErrorOutcome(output: string): SysOutcome {
  return { kind: "done", isError: true, output };
}
