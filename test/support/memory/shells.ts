// The Shells port in the test's own process: the real interpreter, without a thread around it.

import { Sessions } from "../../../src/hardware/sessions.ts";
import { sleep } from "../../../src/lib/sleep.ts";
import type { Exit, SessionState, ShellCommand, ShellLink, Shells } from "../../../src/ports/shells.ts";
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
    // Loaded late: most simulations run no command, and the interpreter is large.
    const { runCommand } = await import("../../../src/shell/run.ts");
    return this.#sessions.start(command.who.uid, command.outputBytesMax, (sink) => {
      const over = new AbortController();
      const input = new Lines(() => sink.wantsInput());
      const terminal = { write: sink.output, line: () => input.next() };
      const run = runCommand(command, (ask) => link(ask, over.signal), terminal, THREAD_LIMITS, over.signal);
      let why: string | null = null;
      const done = run.then(({ stdout, stderr, ...exit }): Exit => {
        sink.output("stdout", stdout);
        sink.output("stderr", stderr);
        return why === null ? exit : { exitCode: 130, error: why };
      });
      return {
        done,
        write: (text) => input.feed(text),
        end: (reason) => {
          why = reason;
          over.abort();
        },
      };
    });
  }

  wait(uid: number, sessionId: string, ms: number, signal: AbortSignal): Promise<SessionState | null> {
    return this.#sessions.wait(uid, sessionId, ms, signal);
  }

  async write(uid: number, sessionId: string, text: string): Promise<boolean> {
    return this.#sessions.write(uid, sessionId, text);
  }

  end(uid: number, sessionId: string, why: string): Promise<void> {
    return this.#sessions.end(uid, sessionId, why);
  }
}
