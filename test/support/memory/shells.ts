// The Shells port in the test's own process: the real interpreter, without a thread around it.

import { Sessions, toCommandInfo } from "../../../src/hardware/sessions.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import type {
  Exit,
  PollOptions,
  SendOutcome,
  CommandInput,
  SessionInfo,
  PollResult,
  ShellCommand,
  ShellLink,
  Shells,
} from "../../../src/ports/shells.ts";
import { THREAD_LIMITS } from "../../../src/shell/limits.ts";
import { Lines } from "../../../src/shell/lines.ts";

export class MemoryShells implements Shells {
  #count = 0;
  readonly #sessions = new Sessions({
    newId: () => String(++this.#count),
    now: () => Date.now(),
    sleep,
  });

  async start(command: ShellCommand, link: ShellLink): Promise<string> {
    // Loaded lazily: most simulations run no command, and the interpreter is large.
    const { runCommand } = await import("../../../src/shell/run.ts");
    return this.#sessions.start(command.who.uid, toCommandInfo(command), (sink) => {
      const over = new AbortController();
      const input = new Lines(() => sink.onInputWanted());
      const terminal = { write: sink.onOutput, readLine: () => input.next() };
      const run = runCommand(command, (ask) => link(ask, over.signal), terminal, THREAD_LIMITS, over.signal);
      let end: Exit | null = null;
      const done = run.then(({ stdout, stderr, ...exit }): Exit => {
        sink.onOutput("stdout", stdout);
        sink.onOutput("stderr", stderr);
        return end ?? exit;
      });
      return {
        done,
        write: (text) => input.feed(text),
        end: (exit) => {
          end = exit;
          over.abort();
        },
      };
    });
  }

  waitForRoom(uid: number): Promise<boolean> {
    return this.#sessions.waitForRoom(uid);
  }

  wait(uid: number, sessionId: string, look: PollOptions, signal: AbortSignal): Promise<PollResult | null> {
    return this.#sessions.wait(uid, sessionId, look, signal);
  }

  send(uid: number, sessionId: string, sent: CommandInput, ms: number): Promise<SendOutcome> {
    return this.#sessions.send(uid, sessionId, sent, ms);
  }

  end(uid: number, sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(uid, sessionId, why);
  }

  async list(uid: number): Promise<SessionInfo[]> {
    return this.#sessions.list(uid);
  }
}
