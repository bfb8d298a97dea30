// The line between a process's object and the kernel's, which is cut whenever one of them is started anew: what is stopped then, and
// what is told. Both ends are the Cloudflare host's; only the platform between them is played here.

import { expect, it } from "vitest";
import { ProcessRequests } from "../../src/hosts/cloudflare/process-requests.ts";
import { RemoteKernel } from "../../src/hosts/cloudflare/kernel-client.ts";
import { deferred, type Deferred } from "../../src/lib/deferred.ts";
import type { Reply } from "../../src/ports/reply.ts";
import type { ProcessEvent } from "../../src/protocol/signals.ts";
import { STOPPED, type SysCall, type SysOutcome } from "../../src/process/kernel-port.ts";
import { ScriptedKernel } from "../support/scripted-kernel.ts";

const PID = "init:1";
const CALL: SysCall = {
  runId: "r1",
  conversationId: "default",
  callId: "c1",
  tool: "Shell",
  syscall: "shell.exec",
  args: { target: "laptop", input: "sleep 1000" },
  isAgain: false,
};

type Carried = { call: SysCall; reason: unknown };

/** The kernel's object: each life has a desk of its own, and what the last one was asked is answered by nobody. */
class Platform {
  readonly kernel = new ScriptedKernel();
  readonly carried: Carried[] = [];
  #desk = this.#begin();
  #life: Deferred = deferred();
  /** How often it was asked for something. */
  asked: string[] = [];
  isGone = false;

  readonly stub = () => ({
    kernelProcess: (pid: string, name: string, args: readonly unknown[]): Promise<Reply> => {
      this.asked.push(name);
      if (this.isGone) return Promise.reject(new Error("the object cannot be reached"));
      const cut = this.#life.promise.then((): never => {
        throw new Error("the object was started anew");
      });
      return Promise.race([this.#desk.answer(pid, name, structuredClone(args)), cut]);
    },
  });

  restart(): void {
    const old = this.#life;
    this.#life = deferred();
    this.#desk = this.#begin();
    old.resolve();
  }

  #begin(): ProcessRequests {
    const link = () => ({
      ...this.kernel.kernelPortFor(PID),
      sys: (call: SysCall, signal: AbortSignal): Promise<SysOutcome> => {
        this.carried.push({ call, reason: signal.aborted ? signal.reason : null });
        return new Promise(() => {});
      },
    });
    const facts = () => ({ archiveRoot: "/", catalogue: "", reachable: [""] as [string] });
    return new ProcessRequests(link, facts, async () => {});
  }
}

it("stops a call that the kernel forgot when it was started anew, before it is asked for again", async () => {
  const platform = new Platform();
  // Long enough that it is not asked for again while the test lasts.
  const link = new RemoteKernel(PID, { stub: platform.stub, pauseMs: 5_000 }).link(() => {});
  const stop = new AbortController();
  const outcome = link.sys(CALL, stop.signal, () => {});
  await expect.poll(() => platform.carried.length).toBe(1);
  platform.restart();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(STOPPED);
  await outcome;
  await expect.poll(() => platform.carried).toHaveLength(2);
  expect(platform.carried[1]).toEqual({ call: { ...CALL, isAgain: true }, reason: STOPPED });
});

it("leaves a call alone that the process merely lost sight of", async () => {
  const platform = new Platform();
  const link = new RemoteKernel(PID, { stub: platform.stub, pauseMs: 5_000 }).link(() => {});
  const stop = new AbortController();
  const outcome = link.sys(CALL, stop.signal, () => {});
  await expect.poll(() => platform.carried.length).toBe(1);
  platform.restart();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(null);
  await outcome;
  await expect.poll(() => platform.asked).toContain("abandon");
  expect(platform.carried).toHaveLength(1);
});

it("gives up telling after some tries, and tells nothing later before it knows what was heard", async () => {
  const platform = new Platform();
  const link = new RemoteKernel(PID, { stub: platform.stub, pauseMs: 0 }).link(() => {});
  platform.isGone = true;
  const told = [1, 2].map((seq) => Promise.resolve(link.emit([event(seq)])));
  for (const one of await Promise.allSettled(told)) expect(one).toMatchObject({ status: "rejected", reason: { code: 503 } });
  const tries = platform.asked.length;
  expect(tries).toBeLessThan(20);
  platform.isGone = false;
  await expect(link.emit([event(3)])).rejects.toMatchObject({ code: 503 });
  expect(platform.asked).toHaveLength(tries);
  expect(await link.heardUpTo()).toBe(0);
  await link.emit([event(1), event(2), event(3)]);
  expect(platform.kernel.events(PID).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

function event(seq: number): ProcessEvent {
  return { seq, signal: "proc.changed", payload: { pid: PID, queuedCount: 0, timestamp: 0, changes: ["usage"] } };
}

it("does not look for a call that ended while its process stopped it", async () => {
  const carried: boolean[] = [];
  const link = {
    ...new ScriptedKernel().kernelPortFor(PID),
    sys: async (call: SysCall): Promise<SysOutcome> => {
      carried.push(call.isAgain);
      return { kind: "done", isError: false, output: "ended" };
    },
  };
  const desk = new ProcessRequests(
    () => link,
    () => ({ archiveRoot: "/", catalogue: "", reachable: [""] }),
    async () => {},
  );
  await desk.answer(PID, "sys", [CALL]);
  await desk.answer(PID, "abandon", [CALL, true]);
  expect(carried).toEqual([false]);
  await desk.answer(PID, "abandon", [{ ...CALL, callId: "of another life" }, true]);
  expect(carried).toEqual([false, true]);
});
