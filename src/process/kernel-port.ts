// The interface of a process to the outside: the kernel, which authorizes and runs calls, and models. Only values cross it, so
// the process may live in another object than the kernel. kernel/agents/process-gateway.ts implements it.

import type { ModelChoice, Models, ModelTool } from "../ports/models.ts";
import type { Sandbox, ScriptFunction } from "../ports/sandbox.ts";
import type { Sql } from "../ports/sql.ts";
import type { SpendingAccount, Budget, Limits } from "./loop/budget.ts";
import type { CallOutcome } from "./rows/calls.ts";
import type { HilRequest, Overspent } from "../protocol/proc-records.ts";
import type { RunSettings } from "../protocol/process-settings.ts";
import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { StoredMedia } from "./rows/history.ts";

export type ProcessPorts = {
  sql: Sql;
  models: Models;
  sandbox: Sandbox;
  kernel: KernelPort;
  now(): number;
  uuid(): string;
  /** The folder on gsv that holds the archives of this process: /var/sessions/<username>/<pid>. */
  archiveRoot(): string;
  /** Requests a wake at this time and replaces an earlier request; null cancels it. */
  wakeAt(ms: number | null): void;
  /**
   * Set where the host may evict a process that receives nothing, even one that is working: how often a working process must be
   * woken.
   */
  heartbeatMs?: number;
  log(message: string, fields: Record<string, string | number>): void;
};

/**
 * The abort reason of a signal when somebody ended the run: whatever the run waits for must end too. Any other reason means that
 * only the process stops waiting.
 */
export const STOPPED = "stopped";

export interface KernelPort {
  /** What a run needs from the kernel, looked up once when it starts. `settings` are those of its message. */
  prepare(conversationId: string, settings?: RunSettings): Promise<Preparation>;
  /**
   * Runs one syscall of the process through the gate. `runId` and `callId` are its idempotency key: a call that is sent again
   * does not run again if the target can guarantee that. `onStart` is called when no approval is pending any more. Never throws.
   */
  runSyscall(call: SysCall, signal: AbortSignal, onStart: () => void): Promise<SysOutcome>;
  /** The functions by which scripts of the process call tools of MCP servers. */
  listScriptFunctions(): Promise<readonly ScriptFunction[]>;
  /** Runs a call of a script that a person runs in this process, as that person. Never throws. */
  runScriptCall(call: PersonalScriptCall, signal: AbortSignal): Promise<ScriptCallOutcome>;
  /** Withdraws the open questions about these calls of a run: nobody waits for the answers any more. */
  withdrawQuestions(runId: string, about: QuestionsAbout): Promise<void>;
  /**
   * Delivers events; the kernel forwards them to followers and ignores those it has received before, by their number. Throws or
   * rejects if the kernel has not received them; then nothing later is delivered before `lastReceivedSeq` was called.
   */
  emit(events: readonly ProcessEvent[]): void | Promise<void>;
  /** The number of the last event the kernel has received; a new instance delivers those after it. */
  lastReceivedSeq(): Promise<number>;
  /** What the owner may use over all their processes, and has used; read before every model call. */
  readOwnerAccount(): Promise<OwnerAccount>;
  /**
   * Asks a person whether the run may exceed its budget; the answer arrives as `handleBudgetDecision` of the process. While the question
   * is open, asking again for the same run returns the same question.
   */
  askForBudget(question: { runId: string; conversationId: string; over: readonly Overspent[]; why: string }): Promise<HilRequest>;
  /** Stores the whole of an output that the history holds in part, and returns its path. The same call yields the same file. */
  storeOutput(callId: string, text: string): Promise<string>;
  /** An attachment or a picture that was read, by its key; null if it no longer exists. */
  readMedia(key: string): Promise<Uint8Array | null>;
  /** Durable when it resolves: the caller then deletes what it archived. */
  archive(path: string, bytes: Uint8Array): Promise<void>;
  readArchive(path: string): Promise<Uint8Array>;
  /** Resolves when the process's workspace has it. A workspace that refuses it is not an error of the process. */
  checkpoint(checkpoint: Checkpoint): Promise<void>;
  /** Sends pieces of an answer as they arrive; nobody needs them twice. */
  stream(piece: AnswerPiece): void;
}

/** What was said until the process was emptied: all of it as lines of JSON, and the part that a model is shown. */
export type Checkpoint = { reason: "process.reset" | "process.kill"; chat: Uint8Array; transcript: string };

export type Preparation = {
  choice: ModelChoice;
  fallback: ModelChoice | null;
  contextWindow: number | null;
  system: string;
  tools: readonly ModelTool[];
  budget: Budget;
};

export type OwnerAccount = { limits: Limits; account: SpendingAccount };

/**
 * `isRepeat`: an earlier instance of the process sent the call and did not receive its result. `scriptCallId` is set for a call that a
 * script makes: the model's call that runs the script.
 */
export type SysCall = {
  runId: string;
  conversationId: string;
  callId: string;
  tool: string;
  syscall: string;
  args: Record<string, unknown>;
  isRepeat: boolean;
  scriptCallId?: string;
};

/** Questions about these calls, or those about calls of scripts but these. */
export type QuestionsAbout = { calls: readonly string[] } | { scriptsExcept: readonly string[] };

export type PersonalScriptCall = { scriptId: string; number: number; call: string; args: Record<string, unknown> };
/** The result as JSON. */
export type ScriptCallOutcome = { isError: false; json: string } | { isError: true; message: string };

export type SysOutcome =
  /**
   * `output` is the text for the model. For a call of a script it is a short form for people; `json` is the result for the script, which
   * gets an error with that text where there is none.
   */
  | { kind: "done"; isError: boolean; outcome?: CallOutcome; output: string; images?: StoredMedia[]; json?: string }
  /** A person is asked first; the process is notified of the answer. */
  | { kind: "asked"; request: HilRequest };
