// A process's end of the line to the kernel, which lives in another object. A line can be cut, mostly because the kernel's
// object was started anew; what was asked then is asked again. The other end is process-requests.ts.

import { orAborted } from "../../lib/or-aborted.ts";
import { sleep } from "../../lib/sleep.ts";
import { SysError } from "../../lib/sys-error.ts";
import { type Reply, valueOf } from "../../ports/reply.ts";
import { type KernelPort, STOPPED, type SysCall, type SysOutcome } from "../../process/kernel-port.ts";
import type { KernelAsk, ProcessFacts, Told } from "./process-requests.ts";

/** What the kernel's object has for a process. */
export type KernelStub = { kernelProcess(pid: string, name: string, args: readonly unknown[]): Promise<Reply> };

export type Line = {
  /** A new one each time: after a failure the old one leads nowhere. */
  stub(): KernelStub;
  pauseMs?: number;
};

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;
/** About a minute. What must not be given up then is asked for again by whoever wants it. */
const TRIES = 16;
/** How much is told at once; the platform carries 32 MiB. */
const TELL_CHARS_MAX = 4_000_000;

type Asked<N extends keyof KernelAsk> = Awaited<ReturnType<KernelAsk[N]>>;
type Again = { tries: number; signal?: AbortSignal };
type Letter = { told: Told; chars: number; heard: () => void; lost: (error: unknown) => void };

export class RemoteKernel {
  readonly #pid: string;
  readonly #line: Line;
  #outbox: Letter[] = [];
  #stub: KernelStub | null = null;
  #isTelling = false;
  /** Something was not heard. What comes after it would hide that, so it has to wait. */
  #isBehind = false;

  constructor(pid: string, line: Line) {
    this.#pid = pid;
    this.#line = line;
  }

  facts(): Promise<ProcessFacts> {
    return this.#ask("facts", []);
  }

  /** `refreshed` gets what comes with every preparation. */
  link(refreshed: (facts: ProcessFacts) => void): KernelPort {
    return {
      prepare: async (conversationId) => {
        const { preparation, facts } = await this.#ask("prepare", [conversationId]);
        refreshed(facts);
        return preparation;
      },
      // The kernel tells the process's object itself when a call has begun (process-requests.ts): a function does not cross.
      sys: (call, signal) => this.#sys(call, signal),
      emit: async (events) => void (await Promise.all(events.map((event) => this.#tell({ event })))),
      stream: (piece) => void this.#tell({ piece }).catch(() => {}),
      heardUpTo: async () => {
        const heard = await this.#ask("heardUpTo", []);
        this.#isBehind = false;
        return heard;
      },
      ofOwner: () => this.#ask("ofOwner", []),
      askForBudget: (question) => this.#ask("askForBudget", [question]),
      keepOutput: (callId, text) => this.#ask("keepOutput", [callId, text]),
      readMedia: (key) => this.#ask("readMedia", [key]),
      archive: (path, bytes) => this.#ask("archive", [path, bytes]),
      readArchive: (path) => this.#ask("readArchive", [path]),
      checkpoint: (checkpoint) => this.#ask("checkpoint", [checkpoint]),
    };
  }

  /** Until it is answered, however often the line is cut, or nobody wants to know any more: its run, whose lease ends, does. */
  async #sys(call: SysCall, signal: AbortSignal): Promise<SysOutcome> {
    const abandon = () => void this.#ask("abandon", [call, signal.reason === STOPPED]).catch(() => {});
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

  /** Resolves when the kernel has heard it. */
  #tell(told: Told): Promise<void> {
    if (this.#isBehind) return Promise.reject(new SysError(503, "The kernel has not heard what came before this"));
    const { promise, resolve: heard, reject: lost } = Promise.withResolvers<void>();
    this.#outbox.push({ told, chars: JSON.stringify(told).length, heard, lost });
    if (!this.#isTelling) {
      this.#isTelling = true;
      void this.#tellAll();
    }
    return promise;
  }

  /** One after the other, and in between what has come meanwhile at once: so order stays, and a slow line delays little. */
  async #tellAll(): Promise<void> {
    for (let batch = this.#batch(); batch.length > 0; batch = this.#batch()) {
      const all = batch.map(({ told }) => told);
      // Pieces are told once: who missed one sees the whole soon.
      const again = all.filter((told) => "event" in told);
      try {
        await this.#ask("tell", (tries) => [tries === 0 ? all : again]);
        for (const { heard } of batch) heard();
      } catch (error) {
        this.#isBehind = true;
        const lost = [...batch, ...this.#outbox];
        this.#outbox = [];
        for (const letter of lost) letter.lost(error);
      }
    }
    // In the turn in which there was nothing left: what comes now begins anew.
    this.#isTelling = false;
  }

  #batch(): Letter[] {
    let chars = 0;
    const count = this.#outbox.findIndex((one, at) => (chars += one.chars) > TELL_CHARS_MAX && at > 0);
    return this.#outbox.splice(0, count === -1 ? this.#outbox.length : count);
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
