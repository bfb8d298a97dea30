// Background commands of processes: lists them, checks whether they still run, and ends them with their process. Targets are called
// as the owner of the process, who may end everything that their agents started.

import { SysError } from "../../lib/sys-error.ts";
import type { SysCall } from "../../process/kernel-port.ts";
import type { Gate } from "../gate.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { ProcessSession } from "../nouns/process-sessions.ts";
import { NATIVE } from "../../lib/target.ts";
import type { Store } from "../store.ts";
import { makeOwnerCaller } from "./process-caller.ts";
import type { StillRunning } from "./open-calls.ts";

type StartedCall = Pick<SysCall, "syscall" | "args" | "runId" | "conversationId">;

/** `unknown`: the target cannot be reached. */
export type ListedSession = ProcessSession & { state: "running" | "unknown" };

/** How long a command may take to end after SIGINT, and after SIGKILL. */
const END_WAIT_MS = 1_000;
const EXEC = "shell.exec";

export class BackgroundCommands {
  readonly #store: Store;
  readonly #gate: Gate;

  constructor(store: Store, gate: Gate) {
    this.#store = store;
    this.#gate = gate;
  }

  /** A call of the process starts: the process no longer waits for commands that it started before, except the one it polls. */
  onCall({ pid }: ProcessRow, { args }: SysCall): void {
    if (this.#store.reads.processSessions.listByProcess(pid).length === 0) return;
    const sessionId = typeof args.sessionId === "string" ? args.sessionId : null;
    this.#store.relaxed(({ processSessions }) => processSessions.clearAwaited(pid, sessionId));
  }

  /** Records what a call of the process has answered about a command. */
  recordAnswer({ pid, uid }: ProcessRow, { syscall, args, runId, conversationId }: StartedCall, target: string, data: unknown): void {
    if (syscall !== EXEC) return;
    const { status, sessionId, exitCode } = data as { status?: unknown; sessionId?: unknown; exitCode?: unknown };
    const polledId = typeof args.sessionId === "string" ? args.sessionId : null;
    if (status !== "running") {
      // Without an exit code nothing says that the command ended: the target could not be reached.
      if (polledId !== null && exitCode !== undefined) this.#forget(polledId, pid);
      return;
    }
    // A poll does not change whose command it is: `markAwaited` ignores commands of other processes.
    if (polledId !== null) return this.#store.relaxed(({ processSessions }) => processSessions.markAwaited(pid, polledId));
    if (typeof sessionId !== "string") return;
    const command = typeof args.input === "string" ? args.input : "";
    const session = { sessionId, pid, uid, target, command, runId, conversationId };
    this.#store.relaxed(({ processSessions, emit, after, now }) => {
      processSessions.add({ ...session, startedAt: now });
      after(() => emit.announceChanges(uid, ["sessions"]));
    });
  }

  #forget(sessionId: string, pid: string): void {
    this.#store.relaxed(({ processSessions, emit, after }) => {
      const uid = processSessions.remove(sessionId, pid);
      if (uid !== undefined) after(() => emit.announceChanges(uid, ["sessions"]));
    });
  }

  /** Commands that still run or whose state is unknown. Removes the rows of the others. */
  async list(process: ProcessRow): Promise<ListedSession[]> {
    const known = this.#store.reads.processSessions.listByProcess(process.pid);
    const targets = [...new Set(known.map(({ target }) => target))];
    const byTarget = new Map(await Promise.all(targets.map(async (target) => [target, await this.#listRunning(process, target)] as const)));
    return known.flatMap((session) => {
      const running = byTarget.get(session.target) ?? null;
      const isGone = session.target !== NATIVE && !this.#hasDevice(session.sessionId);
      if (running === null && !isGone) return { ...session, state: "unknown" as const };
      if (running?.has(session.sessionId) === true) return { ...session, state: "running" as const };
      this.#forget(session.sessionId, session.pid);
      return [];
    });
  }

  #hasDevice(sessionId: string): boolean {
    const { devices, shellSessions, now } = this.#store.reads;
    const known = shellSessions.get(sessionId, now);
    return known !== undefined && devices.get(known.deviceId) !== undefined;
  }

  /** Ends commands and returns those that could not be ended. */
  async end(process: ProcessRow, sessions: readonly ProcessSession[]): Promise<StillRunning[]> {
    const failures = await Promise.all(
      sessions.map(async ({ sessionId, target, command }) => {
        const why = await this.#endOne(process, sessionId, target);
        if (why === null) this.#forget(sessionId, process.pid);
        return why === null ? [] : [{ target, command, sessionId, why }];
      }),
    );
    return failures.flat();
  }

  /** Returns why the command could not be ended; null if it has ended. */
  async #endOne(process: ProcessRow, sessionId: string, target: string): Promise<string | null> {
    try {
      for (const signal of ["INT", "KILL"]) {
        const args = { target, sessionId, input: "", signal, wait: END_WAIT_MS };
        const { status } = (await this.#callAsOwner(process, EXEC, args)) as { status?: unknown };
        if (status !== "running") return null;
      }
      return "It is still running although it was killed";
    } catch (error) {
      // The target does not know the command, so it does not run.
      if (error instanceof SysError && error.code === 404) return null;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** The ids of the commands that run on a target; null if the target cannot be reached. */
  async #listRunning(process: ProcessRow, target: string): Promise<Set<string> | null> {
    try {
      const { sessions } = (await this.#callAsOwner(process, "shell.list", { target })) as {
        sessions: { sessionId: string; state: string }[];
      };
      return new Set(sessions.filter(({ state }) => state === "running").map(({ sessionId }) => sessionId));
    } catch {
      return null;
    }
  }

  /** Calls as the owner of the process, locked or not, so that no approval is needed. */
  #callAsOwner(process: ProcessRow, call: string, args: Record<string, unknown>): Promise<unknown> {
    return this.#gate.call(makeOwnerCaller(this.#store.reads, process), call, args, new AbortController().signal);
  }
}
