// A Worker for tests: processes as they are deployed, and a scripted kernel that stores what processes report on disk, so that it
// can be restarted at any point.

import { DurableObject } from "cloudflare:workers";
import type { ModelChoice } from "../../src/ports/models.ts";
import { type Reply, replyOf } from "../../src/ports/reply.ts";
import { StorageError } from "../../src/ports/sql.ts";
import type { KernelPort, SysCall, SysOutcome } from "../../src/process/kernel-port.ts";
import { NOTHING_SPENT } from "../../src/ports/usage.ts";
import { type Env, kernelOf } from "../../src/hosts/cloudflare/options.ts";
import { ProcessRequests, type ProcessOutput } from "../../src/hosts/cloudflare/process-requests.ts";
import { CloudflareProcesses, type ProcessNamespace, ProcessObject as Deployed } from "../../src/hosts/cloudflare/processes.ts";

type Stub = ReturnType<ProcessNamespace["getByName"]> & Pick<ProcessObject, "die" | "counts" | "ring">;
type TestEnv = Omit<Env, "PROCESSES"> & { PROCESSES: { getByName(name: string): Stub }; CHOICE: string };

export type Sent = SysCall & { isAborted?: true };

export class ProcessObject extends Deployed {
  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#count("built");
  }

  override alarm(): Promise<void> {
    this.#count("alarms");
    return super.alarm();
  }

  async counts(): Promise<{ built: number; alarms: number; alarmAt: number | null }> {
    const { kv } = this.ctx.storage;
    return { built: kv.get<number>("built") ?? 0, alarms: kv.get<number>("alarms") ?? 0, alarmAt: await this.ctx.storage.getAlarm() };
  }

  /** Makes its alarm fire now, even if none was set. */
  async ring(): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now());
  }

  #count(what: "built" | "alarms"): void {
    const { kv } = this.ctx.storage;
    kv.put(what, (kv.get<number>(what) ?? 0) + 1);
  }

  /** Discards its memory and moves its pending alarm to the near future. Returns in how many ms that alarm was due. */
  async die(): Promise<number | null> {
    const alarmAt = await this.ctx.storage.getAlarm();
    if (alarmAt !== null) await this.ctx.storage.setAlarm(Date.now() + 100);
    await this.ctx.storage.sync();
    setTimeout(() => this.ctx.abort("taken by a test"));
    return alarmAt === null ? null : alarmAt - Date.now();
  }
}

export class KernelObject extends DurableObject<TestEnv> {
  readonly #desk = new ProcessRequests(
    (pid) => this.#link(pid),
    (pid) => ({
      archiveRoot: `/var/sessions/sam/${pid}`,
      catalogue: "",
      reachable: [this.#get<string>("allowed", "127.0.0.1")],
    }),
    async () => {},
  );

  answerProcess(pid: string, name: string, args: readonly unknown[]): Promise<Reply> {
    return this.#desk.answer(pid, name, args);
  }

  /** Commands of the test. */
  override async fetch(request: Request): Promise<Response> {
    const { ask, pid, name, args } = (await request.json()) as { ask: string; pid: string; name: string; args: object };
    switch (ask) {
      case "call":
        return Response.json(await replyOf(new CloudflareProcesses(this.env.PROCESSES).call(pid, name, args)));
      case "allow":
        this.ctx.storage.kv.put("allowed", name);
        return Response.json(null);
      case "alarm":
        await this.env.PROCESSES.getByName(pid).ring();
        return Response.json(null);
      case "counts":
        return Response.json(await this.env.PROCESSES.getByName(pid).counts());
      case "refuse":
        this.ctx.storage.kv.put("refuses", name);
        return Response.json(null);
      case "asked":
        return Response.json(this.#get<number>(`asked ${pid}`, 0));
      case "die":
        return Response.json(await this.env.PROCESSES.getByName(pid).die());
      case "restart":
        await this.#restart();
    }
    return Response.json({ told: this.#get<ProcessOutput[]>("told", []), sent: this.#get<Sent[]>("sent", []) });
  }

  #link(pid: string): KernelPort {
    return {
      prepare: async () => ({
        choice: JSON.parse(this.env.CHOICE) as ModelChoice,
        fallback: null,
        contextWindow: 10_000,
        system: "be good",
        tools: [],
        budget: { run: {}, process: {} },
      }),
      runSyscall: (call, signal) => this.#sys(call, signal),
      runScriptCall: async () => ({ isError: true, message: "people run no scripts here" }),
      listScriptFunctions: async () => [],
      withdrawQuestions: async () => {},
      emit: (events) => {
        if (this.#get<string>("refuses", "") === pid) throw new StorageError(true, null);
        for (const event of events) if (event.seq > this.#heard(pid)) this.#add("told", { event });
      },
      lastReceivedSeq: async () => {
        this.ctx.storage.kv.put(`asked ${pid}`, this.#get<number>(`asked ${pid}`, 0) + 1);
        return this.#heard(pid);
      },
      readOwnerAccount: async () => ({ limits: {}, account: { total: NOTHING_SPENT, since: NOTHING_SPENT } }),
      askForBudget: async () => Promise.reject(new Error("there are no budgets here")),
      storeOutput: async (callId) => `/var/outputs/${callId}`,
      readMedia: async () => null,
      archive: async () => {},
      readArchive: async () => new Uint8Array(),
      checkpoint: async () => {},
      stream: (piece) => this.#add("told", { piece }),
    };
  }

  async #sys(call: SysCall, signal: AbortSignal): Promise<SysOutcome> {
    this.#add("sent", call);
    if (call.args.path === "/restart" && !call.isRepeat) await this.#restart();
    if (call.args.path === "/slow") {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      this.#add("sent", { ...call, isAborted: true });
    }
    return { kind: "done", isError: false, output: `content of ${String(call.args.path)}` };
  }

  async #restart(): Promise<never> {
    await this.ctx.storage.sync();
    this.ctx.abort("started anew by a test");
    return new Promise(() => {});
  }

  #heard(pid: string): number {
    const events = this.#get<ProcessOutput[]>("told", []).flatMap((told) => ("event" in told ? told.event : []));
    return events.findLast(({ payload }) => payload.pid === pid)?.seq ?? 0;
  }

  #add(list: "told" | "sent", value: ProcessOutput | Sent): void {
    this.ctx.storage.kv.put(list, [...this.#get<unknown[]>(list, []), value]);
  }

  #get<T>(key: string, otherwise: T): T {
    return this.ctx.storage.kv.get<T>(key) ?? otherwise;
  }
}

export default {
  fetch: (request, env) => kernelOf(env).fetch(request),
} satisfies ExportedHandler<TestEnv>;
