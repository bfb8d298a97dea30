// Scripts that people run (codemode.run). A process's sandbox runs each; the calls of a script come back here and run as the person who
// started it, with the identity of that process, or, where an agent's command started it, as that command: with the agent's policy, and
// with nobody to be asked.

import { fail, SysError } from "../../lib/sys-error.ts";
import { isGatewayTarget, NATIVE } from "../../lib/target.ts";
import { type PersonalScriptCall, type ScriptCallOutcome, STOPPED } from "../../process/kernel-port.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";
import type { ScriptGlobals } from "../../ports/sandbox.ts";
import { type Allowance, type Caller, nestedCaller } from "../../protocol/caller.ts";
import type { ScriptResult } from "../../sandbox/calls/result.ts";
import { TOOL_OF_SCRIPT_CALL } from "../../sandbox/script-calls.ts";
import { toSysError } from "../failure.ts";
import type { Gate } from "../gate.ts";
import { withRefresh } from "../identity/present-caller.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";
import type { BackgroundCommands } from "./background-commands.ts";
import { makeProcessCaller } from "./process-caller.ts";
import type { AskProcess } from "./questions.ts";

/** What a person has approved of a command says nothing about a script that it runs. */
const UNSEEN_SCRIPT: Allowance = { approved: null, mayConnect: false };

type ScriptRun = { pid: string; starter: Caller; calls: Map<number, AbortController>; isStopped: boolean };

export class ScriptRuns {
  readonly #store: Store;
  readonly #gate: Gate;
  readonly #backgroundCommands: BackgroundCommands;
  readonly #askProcess: AskProcess;
  readonly #open = new Map<string, ScriptRun>();

  constructor(store: Store, gate: Gate, backgroundCommands: BackgroundCommands, askProcess: AskProcess) {
    this.#backgroundCommands = backgroundCommands;
    this.#store = store;
    this.#gate = gate;
    this.#askProcess = askProcess;
  }

  async run(caller: Caller, { pid }: ProcessRow, code: string, globals: ScriptGlobals, signal: AbortSignal): Promise<ScriptResult> {
    const { reads, ports } = this.#store;
    const scriptId = ports.crypto.uuid();
    const run: ScriptRun = { pid, starter: withRefresh(reads, caller), calls: new Map(), isStopped: signal.aborted };
    const stop = () => {
      run.isStopped = true;
      for (const abort of run.calls.values()) abort.abort(STOPPED);
      void this.#askProcess(pid, "stopScript", { scriptId }).catch(() => {});
    };
    this.#open.set(scriptId, run);
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await this.#askProcess(pid, "runScript", { scriptId, code, globals });
    } finally {
      signal.removeEventListener("abort", stop);
      this.#open.delete(scriptId);
      for (const abort of run.calls.values()) abort.abort(STOPPED);
    }
  }

  /** Runs a call of a script in the process with this pid. */
  async runCall(pid: string, { scriptId, number, call, args }: PersonalScriptCall, signal: AbortSignal): Promise<ScriptCallOutcome> {
    const run = this.#open.get(scriptId);
    const abort = new AbortController();
    const stop = () => abort.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      if (run === undefined || run.pid !== pid || run.isStopped) fail(404, "The script has ended");
      if (!TOOL_OF_SCRIPT_CALL.has(call)) fail(403, `A script cannot call ${call}`);
      if (signal.aborted) stop();
      run.calls.set(number, abort);
      const caller = this.#callerOf(run);
      const data = await this.#gate.call(caller, call, args, abort.signal);
      this.#recordCommand(caller, call, args, data);
      return { isError: false, json: JSON.stringify(data) };
    } catch (error) {
      return { isError: true, message: this.#toMessage(run, call, error) };
    } finally {
      signal.removeEventListener("abort", stop);
      run?.calls.delete(number);
    }
  }

  #callerOf(run: ScriptRun): Caller {
    return this.#findCaller(run) ?? fail(403, "Permission denied: the login that started this script has ended");
  }

  /**
   * With the rights that the starter has now. What the calls start lives no longer than the starter's login: a person keeps it as the
   * credential, whichever process the script runs in.
   */
  #findCaller(run: ScriptRun): Caller | undefined {
    const { reads } = this.#store;
    const present = run.starter.refresh?.();
    if (present === undefined) return undefined;
    if (present.agent !== undefined) return nestedCaller({ ...present, agent: { ...present.agent, within: UNSEEN_SCRIPT } });
    const process = reads.processes.get(run.pid);
    if (process === undefined) return undefined;
    const { agent: _, ...person } = makeProcessCaller(reads, process);
    return { ...person, credential: present.credential, refresh: () => this.#findCaller(run) };
  }

  /** A command that an agent's script leaves running is one of the agent's, listed and ended like its others. */
  #recordCommand({ agent }: Caller, syscall: string, args: Record<string, unknown>, data: unknown): void {
    if (agent === undefined) return;
    const process = this.#store.reads.processes.get(agent.pid);
    if (process === undefined) return;
    const { runId, conversationId } = agent;
    const target = typeof args.target === "string" && !isGatewayTarget(args.target) ? args.target : NATIVE;
    this.#backgroundCommands.recordAnswer(
      process,
      { syscall, args, runId: runId ?? "", conversationId: conversationId ?? DEFAULT_CONVERSATION },
      target,
      data,
    );
  }

  #toMessage(run: ScriptRun | undefined, call: string, error: unknown): string {
    const { log, crypto } = this.#store.ports;
    const uid = run?.starter.uid ?? -1;
    return error instanceof SysError
      ? error.message
      : toSysError(error, () => log.reportIncident(crypto.uuid(), { call, uid }, error)).message;
  }
}
