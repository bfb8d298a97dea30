// Commands that processes leave running: which they are, whether they still run, and how they are ended with their process.
// Asked of the targets as the owner, who may end whatever their agents started.

import { SysError } from "../../lib/sys-error.ts";
import type { SysCall } from "../../process/kernel-port.ts";
import type { Gate } from "../gate.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { ProcessSession } from "../nouns/process-sessions.ts";
import { NATIVE } from "../../lib/target.ts";
import type { Store } from "../store.ts";
import { processOwner } from "./process-caller.ts";
import type { StillRunning } from "./open-calls.ts";

/** `unknown` where the target cannot be asked. */
export type ListedSession = ProcessSession & { state: "running" | "unknown" };

/** How long a command has to end after each of the signals that end it. */
const END_WAIT_MS = 1_000;
const EXEC = "shell.exec";

export class BackgroundCommands {
  readonly #store: Store;
  readonly #gate: Gate;

  constructor(store: Store, gate: Gate) {
    this.#store = store;
    this.#gate = gate;
  }

  /** A call of the process begins: what it left running before, it does not wait for any more. */
  calling({ pid }: ProcessRow, { args }: SysCall): void {
    if (this.#store.reads.processSessions.of(pid).length === 0) return;
    const sessionId = typeof args.sessionId === "string" ? args.sessionId : null;
    this.#store.relaxed(({ processSessions }) => processSessions.left(pid, sessionId));
  }

  /** What the process was told of a command. */
  heard({ pid, uid }: ProcessRow, { syscall, args, runId, conversationId }: SysCall, target: string, data: unknown): void {
    if (syscall !== EXEC) return;
    const { status, sessionId, exitCode } = data as { status?: unknown; sessionId?: unknown; exitCode?: unknown };
    const polled = typeof args.sessionId === "string" ? args.sessionId : null;
    if (status !== "running") {
      // Without a code nobody has said that it ended, only that it could not be asked after.
      if (polled !== null && exitCode !== undefined) this.#ended(polled, pid);
      return;
    }
    // One that somebody else started is theirs, whoever looks at it.
    if (polled !== null) return this.#store.relaxed(({ processSessions }) => processSessions.awaited(pid, polled));
    if (typeof sessionId !== "string") return;
    const command = typeof args.input === "string" ? args.input : "";
    const session = { sessionId, pid, uid, target, command, runId, conversationId };
    this.#store.relaxed(({ processSessions, emit, after, now }) => {
      processSessions.started({ ...session, startedAt: now });
      after(() => emit.changed(uid, ["sessions"]));
    });
  }

  #ended(sessionId: string, pid: string): void {
    this.#store.relaxed(({ processSessions, emit, after }) => {
      const uid = processSessions.ended(sessionId, pid);
      if (uid !== undefined) after(() => emit.changed(uid, ["sessions"]));
    });
  }

  /** Those that still run, as far as anybody can tell; the others are forgotten. */
  async list(process: ProcessRow): Promise<ListedSession[]> {
    const known = this.#store.reads.processSessions.of(process.pid);
    const targets = [...new Set(known.map(({ target }) => target))];
    const running = new Map(await Promise.all(targets.map(async (target) => [target, await this.#runningOn(process, target)] as const)));
    return known.flatMap((session) => {
      const there = running.get(session.target) ?? null;
      const isGone = session.target !== NATIVE && !this.#hasDevice(session.sessionId);
      if (there === null && !isGone) return { ...session, state: "unknown" as const };
      if (there?.has(session.sessionId) === true) return { ...session, state: "running" as const };
      this.#ended(session.sessionId, session.pid);
      return [];
    });
  }

  #hasDevice(sessionId: string): boolean {
    const { devices, shellSessions, now } = this.#store.reads;
    const known = shellSessions.get(sessionId, now);
    return known !== undefined && devices.get(known.deviceId) !== undefined;
  }

  /** Those that could not be ended are told. */
  async end(process: ProcessRow, sessions: readonly ProcessSession[]): Promise<StillRunning[]> {
    const left = await Promise.all(
      sessions.map(async ({ sessionId, target, command }) => {
        const why = await this.#problemOfEnding(process, sessionId, target);
        if (why === null) this.#ended(sessionId, process.pid);
        return why === null ? [] : [{ target, command, sessionId, why }];
      }),
    );
    return left.flat();
  }

  /** Null where it has ended. */
  async #problemOfEnding(process: ProcessRow, sessionId: string, target: string): Promise<string | null> {
    try {
      for (const signal of ["INT", "KILL"]) {
        const args = { target, sessionId, input: "", signal, wait: END_WAIT_MS };
        const { status } = (await this.#ask(process, EXEC, args)) as { status?: unknown };
        if (status !== "running") return null;
      }
      return "It goes on although it was killed";
    } catch (error) {
      // Nobody knows it any more, so it does not run.
      if (error instanceof SysError && error.code === 404) return null;
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #runningOn(process: ProcessRow, target: string): Promise<Set<string> | null> {
    try {
      const { sessions } = (await this.#ask(process, "shell.list", { target })) as { sessions: { sessionId: string; state: string }[] };
      return new Set(sessions.filter(({ state }) => state === "running").map(({ sessionId }) => sessionId));
    } catch {
      return null;
    }
  }

  /** As the owner of the process, locked or not, and not as an agent that would have to ask them. */
  #ask(process: ProcessRow, call: string, args: Record<string, unknown>): Promise<unknown> {
    return this.#gate.call(processOwner(this.#store.reads, process), call, args, new AbortController().signal);
  }
}
