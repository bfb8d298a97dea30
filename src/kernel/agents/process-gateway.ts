// The kernel as one process has it (process/kernel-port.ts): carries out its calls through the gate as its user, keeps its files, and
// hears what it tells. Nothing here trusts a process: whatever it may is looked up anew for every call.

import { type ToolOutcome, toolText, UNKNOWN_OUTCOME } from "../../agent/tool-text.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { StoredMedia } from "../../process/rows/history.ts";
import { type Checkpoint, type KernelPort, type Preparation, STOPPED, type SysCall, type SysOutcome } from "../../process/kernel-port.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Req } from "../../protocol/frames.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { namesDevice, NATIVE } from "../../lib/target.ts";
import { callsByName } from "../calls/table.ts";
import { toSysError } from "../failure.ts";
import type { Answer, Gate } from "../gate.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { type Target, targetOf } from "../target.ts";
import type { DeviceRouter } from "../devices/device-router.ts";
import type { Store } from "../store.ts";
import type { Sweeper } from "../sweeper.ts";
import type { Shares } from "../fairness/shares.ts";
import { budgetsOf } from "./budgets.ts";
import { type CallOfProcess, processCaller } from "./process-caller.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { DeviceWaiter } from "./device-waiter.ts";
import type { ProcessEvents } from "./process-events.ts";
import { ApprovalRequired } from "./judge.ts";
import type { ProcessFiles } from "./process-files.ts";
import { isUnknown, type OpenCalls } from "./open-calls.ts";
import type { Preparer } from "./prepare.ts";
import { hilRequest, type Questions } from "./questions.ts";
import type { BackgroundCommands } from "./background-commands.ts";
import type { ProcessSignals } from "./process-signals.ts";

/** Of the kernel, what all processes share. */
export type ProcessServices = {
  gate: Gate;
  shares: Shares;
  preparer: Preparer;
  files: ProcessFiles;
  checkpoints: Checkpoints;
  questions: Questions;
  events: ProcessEvents;
  signals: ProcessSignals;
  deviceWaiter: DeviceWaiter;
  openCalls: OpenCalls;
  sessions: BackgroundCommands;
  deviceRouter: DeviceRouter;
  sweeper: Sweeper;
  /** Those that are being given something: what an earlier run tells meanwhile does not make them idle. */
  sending: ReadonlyMap<string, number>;
};

/** About what is needed to prepare a run, and for a call with the turn of the model that follows it. */
const PREPARE_MS = 3;
const CALL_MS = 10;

/** Its functions are properties, because hosts wrap a port by spreading it. */
export class ProcessGateway implements KernelPort {
  readonly #pid: string;
  readonly #store: Store;
  readonly #services: ProcessServices;

  constructor(pid: string, store: Store, services: ProcessServices) {
    this.#pid = pid;
    this.#store = store;
    this.#services = services;
  }

  readonly prepare = async (): Promise<Preparation> => {
    await this.#services.shares.wait(this.#self().uid, PREPARE_MS);
    const process = this.#self();
    return this.#services.preparer.prepare({ ...process, caller: this.#callerOf(process) });
  };

  readonly emit = (events: readonly ProcessEvent[]): void => {
    this.#services.sweeper.touch();
    this.#services.events.heard(this.#pid, events, this.#services.sending.has(this.#pid));
  };

  readonly heardUpTo = async (): Promise<number> => {
    return this.#process()?.heardSeq ?? 0;
  };

  /** ApprovalRequired before every model call: who was locked meanwhile uses no more. */
  readonly ofOwner = async () => {
    const { reads } = this.#store;
    const { uid } = this.#callerOf(this.#self());
    return { limits: budgetsOf(reads.config, uid).user, account: reads.spending.today(uid, reads.now) };
  };

  readonly askForBudget = async (question: Parameters<KernelPort["askForBudget"]>[0]): Promise<HilRequest> => {
    return this.#services.questions.askForBudget(this.#self(), question);
  };

  readonly keepOutput = async (callId: string, text: string): Promise<string> => {
    return this.#services.files.output(this.#self(), callId, text);
  };

  readonly readMedia = async (key: string): Promise<Uint8Array | null> => {
    return this.#services.files.readMedia(this.#self(), key);
  };

  readonly archive = async (path: string, bytes: Uint8Array): Promise<void> => {
    return this.#services.files.archive(this.#self(), path, bytes);
  };

  readonly readArchive = async (path: string): Promise<Uint8Array> => {
    return (await this.#services.files.read(this.#self(), path)) ?? fail(404, `The archive is gone: ${path}`);
  };

  readonly checkpoint = async (checkpoint: Checkpoint): Promise<void> => {
    return this.#services.checkpoints.keep(this.#self(), checkpoint);
  };

  readonly stream = (piece: AnswerPiece): void => {
    const process = this.#process();
    if (process !== undefined) this.#services.signals.stream(process, piece);
  };

  readonly sys = async (sys: SysCall, signal: AbortSignal, began: () => void): Promise<SysOutcome> => {
    const process = this.#process();
    if (process === undefined) return failed(`Error: Process not found: ${this.#pid}`);
    this.#services.sweeper.touch();
    await this.#services.shares.wait(process.uid, CALL_MS);
    try {
      const known = this.#callerOf(process, sys);
      const caller: Caller = { ...known, agent: { ...known.agent!, began } };
      const key = keyOf(sys);
      if (sys.isAgain && key === undefined && callsByName.get(sys.syscall)?.does !== "read" && !this.#isStillAsked(sys))
        return failed(`Error: The gateway stopped while this was under way. ${UNKNOWN_OUTCOME}`);
      const device = this.#deviceOf(caller, sys);
      this.#services.sessions.calling(process, sys);
      const about = { pid: this.#pid, runId: sys.runId, callId: sys.callId, target: device?.name ?? NATIVE, command: commandOf(sys) };
      const answer = await this.#services.openCalls.run(about, signal, (stopping) => this.#send(sys, caller, key, device, stopping));
      for (const action of answer.after) action();
      this.#services.sessions.heard(process, sys, device?.name ?? NATIVE, answer.data);
      return await this.#told(process, { ok: true, data: answer.data });
    } catch (error) {
      if (error instanceof ApprovalRequired) {
        // Nobody needs the answer to what was stopped while it was judged.
        if (signal.reason === STOPPED) this.#withdraw(process, sys.runId);
        return { kind: "asked", request: hilRequest(error.approval) };
      }
      const outcome = await this.#told(process, { ok: false, error: this.#shapeOf(process, sys.syscall, error) });
      return isDenied(error) && outcome.kind === "done" ? { ...outcome, outcome: "denied" } : outcome;
    }
  };

  /** Through the gate; to a device again for as long as it may come back. */
  async #send(sys: SysCall, caller: Caller, key: string | undefined, device: Target | null, signal: AbortSignal): Promise<Answer> {
    const { gate, deviceWaiter, deviceRouter } = this.#services;
    const frame: Req = { type: "req", id: this.#store.ports.crypto.uuid(), call: sys.syscall, args: sys.args };
    const again: Caller = { ...caller, agent: { ...caller.agent!, isAgain: true } };
    // Of an earlier life, or of a try whose answer got lost, something may run there.
    let mayRun = sys.isAgain;
    const send = async (isAgain: boolean): Promise<Answer> => {
      const as = isAgain || (sys.isAgain && key !== undefined) ? again : caller;
      try {
        return await gate.pass(as, key === undefined ? frame : { ...frame, key }, () => signal);
      } catch (error) {
        // Nothing was done, and the same call without a key is taken.
        if (!sys.isAgain && !isAgain && takesNoKey(error)) return gate.pass(again, frame, () => signal);
        mayRun ||= isUnknown(error);
        throw error;
      }
    };
    if (device === null) return send(false);
    try {
      return await deviceWaiter.run(device.key, send, signal);
    } catch (error) {
      if (signal.reason !== STOPPED || key === undefined || !mayRun || error instanceof ApprovalRequired) throw error;
      deviceRouter.cancelLater(device.key, caller, key);
      throw isUnknown(error) ? error : new SysError(503, messageOf(error), { outcome: "unknown" });
    }
  }

  /** Null for the gateway, and for a call that is wrong: then the gate says so. */
  #deviceOf(caller: Caller, { syscall, args }: SysCall): Target | null {
    const call = callsByName.get(syscall);
    try {
      return call === undefined ? null : targetOf(this.#store.reads, caller, call, args);
    } catch {
      return null;
    }
  }

  #process(): ProcessRow | undefined {
    return this.#store.reads.processes.get(this.#pid);
  }

  #self(): ProcessRow {
    return this.#process() ?? fail(404, `Process not found: ${this.#pid}`);
  }

  #callerOf(process: ProcessRow, call?: CallOfProcess): Caller {
    return processCaller(this.#store.reads, process, call);
  }

  /** Somebody was asked about it, and no yes was used: then it has not begun, whatever the process did not live to hear. */
  #isStillAsked({ runId, callId }: SysCall): boolean {
    const asked = this.#store.reads.approvals.ofCall(this.#pid, callId);
    return asked !== undefined && asked.runId === runId && asked.state !== "used";
  }

  /** Questions of a run that is over. */
  #withdraw(process: ProcessRow, runId: string): void {
    this.#store.relaxed(({ approvals, emit, after, now }) => {
      if (approvals.withdraw(process.pid, runId, now)) after(() => emit.changed(process.uid, ["approvals"]));
    });
  }

  async #told(process: ProcessRow, outcome: ToolOutcome): Promise<SysOutcome> {
    const { text, images, isError } = toolText(outcome);
    const kept: StoredMedia[] = [];
    for (const { mimeType, data } of images) kept.push(await this.#services.files.picture(process, mimeType, data));
    return { kind: "done", isError, output: text, ...(kept.length === 0 ? {} : { images: kept }) };
  }

  #shapeOf({ uid }: ProcessRow, call: string, error: unknown): { message: string; details?: unknown } {
    const { log, crypto } = this.#store.ports;
    return toSysError(error, () => log.incident(crypto.uuid(), { call, uid }, error)).toShape();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What a person is told of a call: the command, or its name. */
function commandOf({ syscall, args }: SysCall): string {
  return syscall === "shell.exec" && typeof args.input === "string" && args.input !== "" ? args.input : syscall;
}

function isDenied(error: unknown): boolean {
  return error instanceof SysError && (error.details as { outcome?: unknown } | undefined)?.outcome === "denied";
}

function takesNoKey(error: unknown): boolean {
  return error instanceof SysError && (error.details as { takesKey?: unknown } | undefined)?.takesKey === false;
}

/** What a device or a row of the kernel's makes once, however often it is sent. */
function keyOf({ runId, callId, syscall, args }: SysCall): string | undefined {
  const call = callsByName.get(syscall);
  if (call === undefined || call.does === "read") return undefined;
  const isElsewhere = call.runs === "hardware" && namesDevice(args);
  return isElsewhere || (call.runs === "kernel" && call.does === "write") ? `${runId}/${callId}`.slice(0, 200) : undefined;
}

function failed(output: string): SysOutcome {
  return { kind: "done", isError: true, output };
}
