// What a process has of the world outside: the kernel, which decides and carries out, and models. Only values cross, so the
// process may live in another object than the kernel.

import type { ModelChoice, Models, ModelTool } from "../ports/models.ts";
import type { Sql } from "../ports/sql.ts";
import type { Account, Budget, Limits } from "./loop/budget.ts";
import type { CallOutcome } from "./rows/calls.ts";
import type { HilRequest, Overspent } from "../protocol/proc-records.ts";
import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { StoredMedia } from "./rows/history.ts";

export type ProcessPorts = {
  sql: Sql;
  models: Models;
  kernel: KernelPort;
  now(): number;
  uuid(): string;
  /** The folder on gsv that archives of this process are kept in: /var/sessions/<username>/<pid>. */
  archiveRoot(): string;
  /** Asks for a wake then, instead of what was asked for before; null where none is needed. */
  wakeAt(ms: number | null): void;
  /**
   * Where the host may take the memory of a process that hears nothing, whatever it is doing: how often one that is at work must be
   * woken.
   */
  beatMs?: number;
  log(message: string, fields: Record<string, string | number>): void;
};

/** Why a signal is aborted where somebody ended the run: what it waits for is to end too. Without it the process only lost interest. */
export const STOPPED = "stopped";

export interface KernelPort {
  /** What a run needs of the system, looked up once when it begins. */
  prepare(conversationId: string): Promise<Preparation>;
  /**
   * One syscall of the process's own, through the gate. `runId` and `callId` are its key: sent again, it is not carried out again where
   * the target can promise that. `began` is told when nobody has to be asked any more. Never throws.
   */
  sys(call: SysCall, signal: AbortSignal, began: () => void): Promise<SysOutcome>;
  /**
   * What has become true; followers are told. What was told before is not told again: its number says so. Throws or rejects where
   * the kernel has not heard it; then nothing later is told before `heardUpTo` was asked.
   */
  emit(events: readonly ProcessEvent[]): void | Promise<void>;
  /** The number of the last event the kernel has heard: a new life tells what came after it. */
  heardUpTo(): Promise<number>;
  /** What the owner of the process may use over all their processes, and has used: looked at before every model call. */
  ofOwner(): Promise<OwnerAccount>;
  /**
   * Asks a person whether the run may go on beyond its budget; `budgetDecided` of the process says what they answered. Asked
   * again for the same run while it is open, it is the same question.
   */
  askForBudget(question: { runId: string; conversationId: string; over: readonly Overspent[]; why: string }): Promise<HilRequest>;
  /** Keeps all of an output of which the history holds a part, and says where. The same call again is the same file. */
  keepOutput(callId: string, text: string): Promise<string>;
  /** What was sent along or read, by its key; null where it is gone. */
  readMedia(key: string): Promise<Uint8Array | null>;
  /** Kept for good when it answers: what is archived is deleted then. */
  archive(path: string, bytes: Uint8Array): Promise<void>;
  readArchive(path: string): Promise<Uint8Array>;
  /** Resolves when the process's workspace has it. A workspace that does not take it is no failure of the process. */
  checkpoint(checkpoint: Checkpoint): Promise<void>;
  /** What nobody needs to be told again: pieces of an answer as it comes. */
  stream(piece: AnswerPiece): void;
}

/** What was said until the process was emptied: all of it as lines of JSON, and as much of it as a model is shown. */
export type Checkpoint = { reason: "process.reset" | "process.kill"; chat: Uint8Array; transcript: string };

export type Preparation = {
  choice: ModelChoice;
  fallback: ModelChoice | null;
  contextWindow: number | null;
  system: string;
  tools: readonly ModelTool[];
  budget: Budget;
};

export type OwnerAccount = { limits: Limits; account: Account };

/** `isAgain`: an earlier life of the process sent it and did not hear how it ended. */
export type SysCall = {
  runId: string;
  conversationId: string;
  callId: string;
  tool: string;
  syscall: string;
  args: Record<string, unknown>;
  isAgain: boolean;
};

export type SysOutcome =
  /** `output` is what the model is told. */
  | { kind: "done"; isError: boolean; outcome?: CallOutcome; output: string; images?: StoredMedia[] }
  /** A person is asked first; the process is told when they have answered. */
  | { kind: "asked"; request: HilRequest };
