// A process's end of the line to the kernel, which lives in another object. A line can be cut, mostly because the kernel's
// object was started anew; what was asked then is asked again. The other end is process-desk.ts.

import { orAborted } from "../../lib/or-aborted.ts";
import { sleep } from "../../lib/sleep.ts";
import { SysError } from "../../lib/sys-error.ts";
import { type Reply, valueOf } from "../../ports/reply.ts";
import { type KernelLink, STOPPED, type SysCall, type SysOutcome } from "../../process/link.ts";
import type { KernelAsk, ProcessFacts, Told } from "./process-desk.ts";

/** What the kernel's object has for a process. */
export type KernelStub = { kernelProcess(pid: string, name: string, args: readonly unknown[]): Promise<Reply> };

export type Line = {
  /** A new one each time: after a failure the old one leads nowhere. */
  stub(): KernelStub;
  log(message: string, fields: Record<string, string | number>): void;
  pauseMs?: number;
};

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;
/** For what can be given up: about a minute. */
const TRIES = 16;
/** How much is told at once; the platform carries 32 MiB. */
const TELL_CHARS_MAX = 4_000_000;

type Asked<N extends keyof KernelAsk> = Awaited<ReturnType<KernelAsk[N]>>;
type Again = { tries: number; signal?: AbortSignal };

export class RemoteKernel {
  readonly #pid: string;
  readonly #line: Line;
  readonly #outbox: { told: Told; chars: number }[] = [];
  #stub: KernelStub | null = null;
  #isTelling = false;

  constructor(pid: string, line: Line) {
    this.#pid = pid;
    this.#line = line;
  }

  facts(): Promise<ProcessFacts> {
    return this.#ask("facts", []);
  }

  /** `refreshed` gets what comes with every preparation. */
  link(refreshed: (facts: ProcessFacts) => void): KernelLink {
    return {
      prepare: async (conversationId) => {
        const { preparation, facts } = await this.#ask("prepare", [conversationId]);
        refreshed(facts);
        return preparation;
      },
      // The kernel tells the process's object itself when a call has begun (process-desk.ts): a function does not cross.
      sys: (call, signal) => this.#sys(call, signal),
      emit: (events) => events.forEach((event) => this.#tell({ event })),
      stream: (piece) => this.#tell({ piece }),
      heardUpTo: () => this.#ask("heardUpTo", []),
      ofOwner: () => this.#ask("ofOwner", []),
      askForBudget: (question) => this.#ask("askForBudget", [question]),
      keepOutput: (callId, text) => this.#ask("keepOutput", [callId, text]),
      readMedia: (key) => this.#ask("readMedia", [key]),
      archive: (path, bytes) => this.#ask("archive", [path, bytes]),
      readArchive: (path) => this.#ask("readArchive", [path]),
      checkpoint: (checkpoint) => this.#ask("checkpoint", [checkpoint]),
    };
  }

  /** Until it is answered, however often the line is cut, or nobody wants to know any more. */
  async #sys(call: SysCall, signal: AbortSignal): Promise<SysOutcome> {
    const abandon = () => void this.#ask("abandon", [call.callId, signal.reason === STOPPED]).catch(() => {});
    signal.addEventListener("abort", abandon, { once: true });
    try {
      // What was sent once may have been carried out, whoever answers now.
      return await this.#ask("sys", (tries) => [{ ...call, isAgain: call.isAgain || tries > 0 }], { tries: Infinity, signal });
    } catch (error) {
      return { kind: "done", isError: true, output: `Error: ${error instanceof Error ? error.message : String(error)}` };
    } finally {
      signal.removeEventListener("abort", abandon);
    }
  }

  #tell(told: Told): void {
    this.#outbox.push({ told, chars: JSON.stringify(told).length });
    if (this.#isTelling) return;
    this.#isTelling = true;
    void this.#tellAll().finally(() => (this.#isTelling = false));
  }

  /** One after the other, and in between what has come meanwhile at once: so order stays, and a slow line delays little. */
  async #tellAll(): Promise<void> {
    for (let batch = this.#batch(); batch.length > 0; batch = this.#batch()) {
      // Pieces are told once: who missed one sees the whole soon.
      const again = batch.filter((told) => "event" in told);
      await this.#ask("tell", (tries) => [tries === 0 ? batch : again], { tries: Infinity }).catch((error: unknown) =>
        this.#line.log("what became true could not be told", { error: String(error) }),
      );
    }
  }

  #batch(): Told[] {
    let chars = 0;
    const count = this.#outbox.findIndex((one, at) => (chars += one.chars) > TELL_CHARS_MAX && at > 0);
    return this.#outbox.splice(0, count === -1 ? this.#outbox.length : count).map(({ told }) => told);
  }

  async #ask<N extends keyof KernelAsk>(
    name: N,
    args: Parameters<KernelAsk[N]> | ((tries: number) => Parameters<KernelAsk[N]>),
    { tries: most, signal = new AbortController().signal }: Again = { tries: TRIES },
  ): Promise<Asked<N>> {
    for (let tries = 0; ; tries++) {
      if (signal.aborted) throw new SysError(503, "This was given up");
      this.#stub ??= this.#line.stub();
      const stub = this.#stub;
      const asked = stub.kernelProcess(this.#pid, name, typeof args === "function" ? args(tries) : args);
      const reply = await orAborted(asked, signal).catch((error: unknown) => {
        if (this.#stub === stub) this.#stub = null;
        // Refusals come as replies. This is the line, but for what it could not have carried at any time.
        if (signal.aborted || (tries + 1 < most && !isNotCopied(error))) return null;
        throw new SysError(503, `The kernel cannot be reached now: ${String(error)}`);
      });
      if (reply !== null) return valueOf(reply) as Asked<N>;
      await sleep(Math.min((this.#line.pauseMs ?? PAUSE_MS) * 2 ** tries, PAUSE_MS_MAX), signal);
    }
  }
}

function isNotCopied(error: unknown): boolean {
  return error instanceof Error && error.name === "DataCloneError";
}
