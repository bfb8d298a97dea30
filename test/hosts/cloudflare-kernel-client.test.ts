// The connection between a process's object and the kernel's, which breaks whenever one of them restarts: which calls are stopped
// then, and which events are delivered. Both ends are the Cloudflare host's; only the platform between them is simulated.

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
  isRepeat: false,
};

type ReceivedCall = { call: SysCall; reason: unknown };

/** The kernel's object: each restart creates new ProcessRequests, and requests to the old ones are never answered. */
class Platform {
  readonly kernel = new ScriptedKernel();
  readonly received: ReceivedCall[] = [];
  #requests = this.#newRequests();
  #restarted: Deferred = deferred();
  /** The names of all requests it received. */
  requestNames: string[] = [];
  isGone = false;

  readonly stub = () => ({
    answerProcess: (pid: string, name: string, args: readonly unknown[]): Promise<Reply> => {
      this.requestNames.push(name);
      if (this.isGone) return Promise.reject(new Error("the object cannot be reached"));
      const disconnect = this.#restarted.promise.then((): never => {
        throw new Error("the object was started anew");
      });
      return Promise.race([this.#requests.answer(pid, name, structuredClone(args)), disconnect]);
    },
  });

  restart(): void {
    const old = this.#restarted;
    this.#restarted = deferred();
    this.#requests = this.#newRequests();
    old.resolve();
  }

  #newRequests(): ProcessRequests {
    const link = () => ({
      ...this.kernel.kernelPortFor(PID),
      runSyscall: (call: SysCall, signal: AbortSignal): Promise<SysOutcome> => {
        this.received.push({ call, reason: signal.aborted ? signal.reason : null });
        return new Promise(() => {});
      },
    });
    const facts = () => ({ archiveRoot: "/", catalogue: "", reachable: [""] as [string] });
    return new ProcessRequests(link, facts, async () => {});
  }
}

it("stops a call that the kernel forgot in a restart, before it is retried", async () => {
  const platform = new Platform();
  // Long enough that no retry happens during the test.
  const link = new RemoteKernel(PID, { makeStub: platform.stub, pauseMs: 5_000 }).makePort(() => {});
  const stop = new AbortController();
  const outcome = link.runSyscall(CALL, stop.signal, () => {});
  await expect.poll(() => platform.received.length).toBe(1);
  platform.restart();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(STOPPED);
  await outcome;
  await expect.poll(() => platform.received).toHaveLength(2);
  expect(platform.received[1]).toEqual({ call: { ...CALL, isRepeat: true }, reason: STOPPED });
});

it("does not stop a call that the process only abandoned", async () => {
  const platform = new Platform();
  const link = new RemoteKernel(PID, { makeStub: platform.stub, pauseMs: 5_000 }).makePort(() => {});
  const stop = new AbortController();
  const outcome = link.runSyscall(CALL, stop.signal, () => {});
  await expect.poll(() => platform.received.length).toBe(1);
  platform.restart();
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(null);
  await outcome;
  await expect.poll(() => platform.requestNames).toContain("abandon");
  expect(platform.received).toHaveLength(1);
});

it("gives up a delivery after some tries, and delivers nothing later until it knows what the kernel has received", async () => {
  const platform = new Platform();
  const link = new RemoteKernel(PID, { makeStub: platform.stub, pauseMs: 0 }).makePort(() => {});
  platform.isGone = true;
  const deliveries = [1, 2].map((seq) => Promise.resolve(link.emit([event(seq)])));
  for (const one of await Promise.allSettled(deliveries)) expect(one).toMatchObject({ status: "rejected", reason: { code: 503 } });
  const tries = platform.requestNames.length;
  expect(tries).toBeLessThan(20);
  platform.isGone = false;
  await expect(link.emit([event(3)])).rejects.toMatchObject({ code: 503 });
  expect(platform.requestNames).toHaveLength(tries);
  expect(await link.lastReceivedSeq()).toBe(0);
  await link.emit([event(1), event(2), event(3)]);
  expect(platform.kernel.events(PID).map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

function event(seq: number): ProcessEvent {
  return { seq, signal: "proc.changed", payload: { pid: PID, queuedCount: 0, timestamp: 0, changes: ["usage"] } };
}

it("does not look for a call that ended while its process was stopping it", async () => {
  const received: boolean[] = [];
  const link = {
    ...new ScriptedKernel().kernelPortFor(PID),
    runSyscall: async (call: SysCall): Promise<SysOutcome> => {
      received.push(call.isRepeat);
      return { kind: "done", isError: false, output: "ended" };
    },
  };
  const requests = new ProcessRequests(
    () => link,
    () => ({ archiveRoot: "/", catalogue: "", reachable: [""] }),
    async () => {},
  );
  await requests.answer(PID, "runSyscall", [CALL]);
  await requests.answer(PID, "abandon", [CALL, true]);
  expect(received).toEqual([false]);
  await requests.answer(PID, "abandon", [{ ...CALL, callId: "of another life" }, true]);
  expect(received).toEqual([false, true]);
});
