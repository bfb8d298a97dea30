// The kernel as one process has it (process/link.ts): carries out its calls through the gate as its user, keeps its files, and
// hears what it tells. Nothing here trusts a process: whatever it may is looked up anew for every call.

import type { Answer } from "../gate.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import { StorageError } from "../../ports/sql.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { Req } from "../../protocol/frames.ts";
import type { Limits } from "../../process/budget.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import type { AnswerPiece, ProcessEvent } from "../../protocol/signals.ts";
import { type KernelLink, type Preparation, STOPPED, type SysCall, type SysOutcome } from "../../process/link.ts";
import type { StoredMedia } from "../../process/history.ts";
import { type ToolOutcome, toolText, UNKNOWN_OUTCOME } from "../../agent/tool-text.ts";
import type { ReadContext } from "../context.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import { kernelCalls } from "../calls/table.ts";
import type { CallOfProcess } from "./caller.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { DeviceCalls } from "./device-calls.ts";
import { NATIVE, type Target } from "../route.ts";
import { Asked } from "./judge.ts";
import type { Keeping } from "./keeping.ts";
import { isUnknown, type OpenCalls } from "./open-calls.ts";
import { hilRequest, type Questions } from "./questions.ts";
import type { Sessions } from "./sessions.ts";

export type LinkMeans = {
  reads: ReadContext;
  keeping: Keeping;
  checkpoints: Checkpoints;
  questions: Questions;
  callerOf: (process: ProcessRow, call?: CallOfProcess) => Caller;
  prepare: (process: ProcessRow, caller: Caller) => Promise<Preparation>;
  /** Resolves when it is this user's turn, for something that takes about so long. */
  turn: (uid: number, costMs: number) => Promise<void>;
  ownerLimits: (uid: number) => Limits;
  pass: (caller: Caller, frame: Req, signal: AbortSignal) => Promise<Answer>;
  heard: (events: readonly ProcessEvent[]) => void;
  stream: (piece: AnswerPiece) => void;
  /** The device a call goes to, or null. */
  deviceOf: (caller: Caller, call: SysCall) => Target | null;
  deviceCalls: DeviceCalls;
  openCalls: OpenCalls;
  sessions: Sessions;
  /** Questions of a run that is over. */
  withdraw: (process: ProcessRow, runId: string) => void;
  /** The device is told when it is back that nobody wants the call of this key any more. */
  cancelLater: (deviceKey: string, caller: Caller, key: string) => void;
  uuid: () => string;
  /** Something of ours broke: the id of the incident. */
  incident: (call: string, uid: number, error: unknown) => string;
};

/** About what is needed to prepare a run, and for a call with the turn of the model that follows it. */
const PREPARE_MS = 3;
const CALL_MS = 10;
const CALLS = new Map(kernelCalls.map((call) => [call.name, call]));

export function kernelLink(pid: string, means: LinkMeans): KernelLink {
  const self = () => means.reads.processes.get(pid) ?? fail(404, `Process not found: ${pid}`);
  return {
    prepare: async () => {
      await means.turn(self().uid, PREPARE_MS);
      return means.prepare(self(), means.callerOf(self()));
    },
    sys: (call, signal, began) => carriedOut(means, pid, call, signal, began),
    emit: (events) => means.heard(events),
    heardUpTo: async () => means.reads.processes.get(pid)?.heardSeq ?? 0,
    ofOwner: async () => {
      // Asked before every model call: who was locked meanwhile uses no more.
      const { uid } = means.callerOf(self());
      return { limits: means.ownerLimits(uid), account: means.reads.spending.today(uid, means.reads.now) };
    },
    askForBudget: async (question): Promise<HilRequest> => means.questions.askForBudget(self(), question),
    keepOutput: (callId, text) => means.keeping.output(self(), callId, text),
    readMedia: (key) => means.keeping.readMedia(self(), key),
    archive: (path, bytes) => means.keeping.archive(self(), path, bytes),
    readArchive: async (path) => (await means.keeping.read(self(), path)) ?? fail(404, `The archive is gone: ${path}`),
    checkpoint: (checkpoint) => means.checkpoints.keep(self(), checkpoint),
    stream: (piece) => means.stream(piece),
  };
}

async function carriedOut(means: LinkMeans, pid: string, sys: SysCall, signal: AbortSignal, began: () => void): Promise<SysOutcome> {
  const process = means.reads.processes.get(pid);
  if (process === undefined) return failed(`Error: Process not found: ${pid}`);
  await means.turn(process.uid, CALL_MS);
  try {
    const known = means.callerOf(process, sys);
    const caller: Caller = { ...known, agent: { ...known.agent!, began } };
    const key = keyOf(sys);
    if (sys.isAgain && key === undefined && CALLS.get(sys.syscall)?.does !== "read" && !isStillAsked(means, pid, sys))
      return failed(`Error: The gateway stopped while this was under way. ${UNKNOWN_OUTCOME}`);
    const frame: Req = { type: "req", id: means.uuid(), call: sys.syscall, args: sys.args };
    const again: Caller = { ...caller, agent: { ...caller.agent!, isAgain: true } };
    // Of an earlier life, or of a try whose answer got lost, something may run there.
    let mayRun = sys.isAgain;
    const sendWith = (signal: AbortSignal) => (isAgain: boolean) =>
      means
        .pass(isAgain || (sys.isAgain && key !== undefined) ? again : caller, key === undefined ? frame : { ...frame, key }, signal)
        .catch((error: unknown) => {
          // Nothing was done, and the same call without a key is taken.
          if (!sys.isAgain && !isAgain && takesNoKey(error)) return means.pass(again, frame, signal);
          mayRun ||= isUnknown(error);
          throw error;
        });
    const device = means.deviceOf(caller, sys);
    means.sessions.calling(process, sys);
    const about = { pid, runId: sys.runId, callId: sys.callId, target: device?.name ?? NATIVE, command: commandOf(sys) };
    const answer = await means.openCalls.run(about, signal, async (signal) => {
      if (device === null) return sendWith(signal)(false);
      try {
        return await means.deviceCalls.run(device.key, sendWith(signal), signal);
      } catch (error) {
        if (signal.reason !== STOPPED || key === undefined || !mayRun || error instanceof Asked) throw error;
        means.cancelLater(device.key, caller, key);
        throw isUnknown(error) ? error : new SysError(503, messageOf(error), { outcome: "unknown" });
      }
    });
    for (const action of answer.after) action();
    means.sessions.heard(process, sys, device?.name ?? NATIVE, answer.data);
    return await told(means, process, { ok: true, data: answer.data });
  } catch (error) {
    if (error instanceof Asked) {
      // Nobody needs the answer to what was stopped while it was judged.
      if (signal.reason === STOPPED) means.withdraw(process, sys.runId);
      return { kind: "asked", request: hilRequest(error.approval) };
    }
    const outcome = await told(means, process, { ok: false, error: shapeOf(means, process, sys.syscall, error) });
    return isDenied(error) && outcome.kind === "done" ? { ...outcome, outcome: "denied" } : outcome;
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

/** Somebody was asked about it, and no yes was used: then it has not begun, whatever the process did not live to hear. */
function isStillAsked({ reads }: LinkMeans, pid: string, { runId, callId }: SysCall): boolean {
  const asked = reads.approvals.ofCall(pid, callId);
  return asked !== undefined && asked.runId === runId && asked.state !== "used";
}

/** What a device or a row of the kernel's makes once, however often it is sent. */
function keyOf({ runId, callId, syscall, args }: SysCall): string | undefined {
  const call = CALLS.get(syscall);
  if (call === undefined || call.does === "read") return undefined;
  const isElsewhere =
    call.runs === "hardware" && ((typeof args.target === "string" && args.target !== NATIVE) || args.sessionId !== undefined);
  return isElsewhere || (call.runs === "kernel" && call.does === "write") ? `${runId}/${callId}`.slice(0, 200) : undefined;
}

async function told(means: LinkMeans, process: ProcessRow, outcome: ToolOutcome): Promise<SysOutcome> {
  const { text, images, isError } = toolText(outcome);
  const kept: StoredMedia[] = [];
  for (const { mimeType, data } of images) kept.push(await means.keeping.picture(process, mimeType, data));
  return { kind: "done", isError, output: text, ...(kept.length === 0 ? {} : { images: kept }) };
}

function shapeOf({ incident }: LinkMeans, { uid }: ProcessRow, call: string, error: unknown): { message: string; details?: unknown } {
  if (error instanceof SysError) return error.toShape();
  if (error instanceof StorageError) return { message: error.message };
  return { message: `Internal error of the gateway (incident ${incident(call, uid, error)})` };
}

function failed(output: string): SysOutcome {
  return { kind: "done", isError: true, output };
}
