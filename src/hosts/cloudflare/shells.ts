// The Shells port: each user's commands run in their own Durable Object, apart from the kernel's. The clock stands still there
// while code computes, so a loop ends by a step limit (shell/limits.ts), or the platform's own limit ends the whole object.

import { DurableObject } from "cloudflare:workers";
import { makeKilledExit } from "../../hardware/exit.ts";
import { Sessions, type Sink, type SpawnedCommand, toCommandInfo } from "../../hardware/sessions.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { sleep } from "../../lib/sleep.ts";
import type {
  Exit,
  PollOptions,
  SendOutcome,
  CommandInput,
  SessionInfo,
  PollResult,
  ShellAsk,
  ShellCommand,
  ShellLink,
  ShellReply,
  Shells,
} from "../../ports/shells.ts";
import { OBJECT_LIMITS } from "../../shell/limits.ts";
import { Lines } from "../../shell/lines.ts";
import { runCommand } from "../../shell/run.ts";
import { type Reply, replyOf, unwrapReply } from "../../ports/reply.ts";
import type { Env } from "./options.ts";

/** The part of the namespace the kernel uses: the platform's own type cannot describe values it does not know. */
export type ShellNamespace = { getByName(name: string): ShellStub };

type ShellStub = {
  start(command: ShellCommand, link: RemoteLink): Promise<Reply>;
  waitForRoom(uid: number): Promise<boolean>;
  wait(uid: number, sessionId: string, options: PollOptions): Promise<PollResult | null>;
  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome>;
  end(uid: number, sessionId: string, why: string): Promise<void>;
  list(uid: number): Promise<SessionInfo[]>;
};

/**
 * Passed as an argument of a remote call; calling it runs it in the kernel's object, as long as a copy of it is held. Null says that the
 * command has ended, so that what it asked for ends too.
 */
type RemoteLink = (ask: ShellAsk | null) => Promise<ShellReply | null>;
type HeldLink = RemoteLink & Disposable & { dup(): HeldLink };

export class ShellObject extends DurableObject<Env> {
  readonly #sessions = new Sessions({ newId: () => crypto.randomUUID(), now: () => Date.now(), sleep });

  async start(command: ShellCommand, link: RemoteLink): Promise<Reply> {
    const held = (link as HeldLink).dup();
    return replyOf(
      (async () => this.#sessions.start(command.who.uid, toCommandInfo(command), (sink) => spawn(command, held, sink)))().catch(
        (error: unknown) => {
          held[Symbol.dispose]();
          throw error;
        },
      ),
    );
  }

  waitForRoom(uid: number): Promise<boolean> {
    return this.#sessions.waitForRoom(uid);
  }

  wait(uid: number, sessionId: string, options: PollOptions): Promise<PollResult | null> {
    return this.#sessions.wait(uid, sessionId, options, new AbortController().signal);
  }

  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    return this.#sessions.send(uid, sessionId, sent, ms);
  }

  end(uid: number, sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(uid, sessionId, why);
  }

  list(uid: number): SessionInfo[] {
    return this.#sessions.list(uid);
  }
}

function spawn(command: ShellCommand, link: HeldLink, sink: Sink): SpawnedCommand {
  const input = new Lines(() => sink.onInputWanted());
  const abort = new AbortController();
  let forcedExit: Exit | null = null;
  const askKernel = async (ask: ShellAsk) => (await link(ask))!;
  const run = async (): Promise<Exit> => {
    try {
      const terminal = { write: sink.onOutput, readLine: () => input.next() };
      const { stdout, stderr, ...exit } = await runCommand(command, askKernel, terminal, OBJECT_LIMITS, abort.signal);
      sink.onOutput("stdout", stdout);
      sink.onOutput("stderr", stderr);
      return forcedExit ?? exit;
    } catch (error) {
      return { exitCode: 1, error: `The shell failed: ${(error as Error).message}` };
    } finally {
      await link(null).catch(() => null);
      link[Symbol.dispose]();
    }
  };
  return {
    done: run(),
    write: (text) => input.feed(text),
    end: (exit) => {
      forcedExit = exit;
      abort.abort();
    },
  };
}

export class CloudflareShells implements Shells {
  readonly #namespace: ShellNamespace;

  constructor(namespace: ShellNamespace) {
    this.#namespace = namespace;
  }

  async start(command: ShellCommand, link: ShellLink): Promise<string> {
    const ended = new AbortController();
    const remote: RemoteLink = async (ask) => {
      if (ask !== null) return link(ask, ended.signal);
      ended.abort(null);
      return null;
    };
    return unwrapReply(await this.#stubOf(command.who.uid).start(command, remote)) as string;
  }

  waitForRoom(uid: number): Promise<boolean> {
    return this.#stubOf(uid).waitForRoom(uid);
  }

  /** The signal cannot cross to the object: when the caller stops waiting, the object's wait continues on its own. */
  wait(uid: number, sessionId: string, options: PollOptions, signal: AbortSignal): Promise<PollResult | null> {
    const unchanged: PollResult = { stdout: "", stderr: "", truncated: false, wantsInput: false, exit: null };
    // An object that the platform ended has lost its sessions; the next poll will say so.
    const lost = { ...unchanged, exit: makeKilledExit("The shell was stopped by the platform's limits while it ran this command") };
    return rejectOnAbort(
      this.#stubOf(uid)
        .wait(uid, sessionId, options)
        .catch(() => lost),
      signal,
    ).catch(() => unchanged);
  }

  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    return this.#stubOf(uid).send(uid, sessionId, sent, ms);
  }

  end(uid: number, sessionId: string, why: string): Promise<void> {
    return this.#stubOf(uid).end(uid, sessionId, why);
  }

  list(uid: number): Promise<SessionInfo[]> {
    return this.#stubOf(uid).list(uid);
  }

  #stubOf(uid: number): ShellStub {
    return this.#namespace.getByName(`shell:${uid}`);
  }
}
