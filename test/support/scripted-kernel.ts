// A scripted kernel for processes: it records each event once and answers calls as the test says.

import { fail } from "../../src/lib/sys-error.ts";
import type { ProcessEvent } from "../../src/protocol/signals.ts";
import type { KernelPort, Preparation, SysCall, SysOutcome } from "../../src/process/kernel-port.ts";
import { StorageError } from "../../src/ports/sql.ts";
import { NOTHING_SPENT } from "../../src/ports/usage.ts";

const PREPARED: Preparation = {
  choice: { provider: "test", model: "m", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 100 },
  fallback: null,
  contextWindow: 10_000,
  system: "be good",
  tools: [],
  budget: { run: {}, process: {} },
};

export type Told = { event: ProcessEvent } | { piece: Record<string, unknown> };

export class ScriptedKernel {
  /** By pid, in order of arrival. */
  readonly told = new Map<string, Told[]>();
  readonly calls: SysCall[] = [];
  /** Whether `emit` fails as on a full disk. */
  isFull = false;
  sys: (call: SysCall, signal: AbortSignal) => Promise<SysOutcome> = async () => ({ kind: "done", isError: false, output: "done" });

  readonly ownerUidOf = (): number => 1000;

  readonly kernelPortFor = (pid: string): KernelPort => {
    const told = this.of(pid);
    const archives = new Map<string, Uint8Array>();
    return {
      prepare: async () => PREPARED,
      runSyscall: (call, signal, onStart) => {
        this.calls.push(call);
        onStart();
        return this.sys(call, signal);
      },
      runScriptCall: async () => ({ isError: true, message: "people run no scripts here" }),
      listScriptFunctions: async () => [],
      withdrawQuestions: async () => {},
      emit: (events) => {
        if (this.isFull) throw new StorageError(true, null);
        for (const event of events) if (event.seq > this.heard(pid)) told.push({ event });
      },
      lastReceivedSeq: async () => this.heard(pid),
      readOwnerAccount: async () => ({ limits: {}, account: { total: NOTHING_SPENT, since: NOTHING_SPENT } }),
      askForBudget: async () => fail(404, "there are no budgets here"),
      storeOutput: async (callId) => `/var/outputs/${callId}`,
      readMedia: async () => null,
      archive: async (path, bytes) => void archives.set(path, bytes),
      readArchive: async (path) => archives.get(path) ?? fail(404, "no such file"),
      checkpoint: async () => {},
      stream: (piece) => void told.push({ piece }),
    };
  };

  readonly archiveRootOf = (pid: string): string => `/var/sessions/sam/${pid}`;

  of(pid: string): Told[] {
    const told = this.told.get(pid) ?? [];
    this.told.set(pid, told);
    return told;
  }

  events(pid: string): ProcessEvent[] {
    return this.of(pid).flatMap((told) => ("event" in told ? told.event : []));
  }

  heard(pid: string): number {
    return this.events(pid).at(-1)?.seq ?? 0;
  }

  /** How the process's runs ended: run id, and the text, error or status. */
  ends(pid: string): [string, string][] {
    return this.events(pid)
      .filter((event) => event.signal === "proc.run.finished")
      .map(({ payload: { runId, text, error, status } }) => [runId, text ?? error ?? status]);
  }
}
