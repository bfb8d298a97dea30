// The one way to run a syscall: authorize -> decode -> judge -> run, in the kernel or on a target. Calls of sockets pass here, and
// so do those of agents, of commands in the gateway's shell and of writes to files such as /sys/config. Every refusal is one line,
// and their order is the security argument: the name is authorized before any other part of the request is read, so a stranger
// reaches no parser.

import type { Data } from "../calls/define.ts";
import { decodeArgs } from "../calls/decode.ts";
import type { HardwareSyscall } from "../hardware/calls/define.ts";
import { fail } from "../lib/sys-error.ts";
import type { SandboxSyscall } from "../sandbox/calls/define.ts";
import type { Caller, Stranger } from "../protocol/caller.ts";
import type { Req } from "../protocol/frames.ts";
import type { Judge } from "./agents/judge.ts";
import { authorize } from "./identity/authorize.ts";
import type { Syscall } from "./calls/define.ts";
import { callsByName } from "./calls/table.ts";
import { usesLane, type Lanes } from "./fairness/lanes.ts";
import type { GatewayTarget } from "./files/gateway-target.ts";
import { answerOfflinePoll } from "./devices/poll-offline.ts";
import { mustHaveNoKey, resolveTargetDevice } from "./target.ts";
import type { DeviceRouter } from "./devices/device-router.ts";
import { type EffectServices, runInKernel } from "./run.ts";
import type { Store } from "./store.ts";
import type { Transfers } from "./files/transfers.ts";

/** The result, and the actions to run once it has been sent. `isDurableElsewhere`: it is durable outside the kernel's rows. */
export type CallAnswer = { data: unknown; after: readonly (() => void)[]; isDurableElsewhere?: boolean };

/** Everything that runs calls. */
export type Targets = {
  /** The services that effects of the kernel use. */
  services: EffectServices;
  gatewayTarget: GatewayTarget;
  devices: DeviceRouter;
  transfers: Transfers;
};

/** A call with decoded arguments. `signal` is a function because only a call that awaits something needs one. */
type DecodedRequest = { call: Syscall; args: Data; frame: Req; signal: () => AbortSignal };

export class Gate {
  readonly #store: Store;
  readonly #judge: Judge;
  readonly #lanes: Lanes;
  #targets!: Targets;

  constructor(store: Store, judge: Judge, lanes: Lanes) {
    this.#store = store;
    this.#judge = judge;
    this.#lanes = lanes;
  }

  /** Must be called before the first call. Targets make calls themselves, so they are constructed after the gate. */
  setTargets(targets: Targets): void {
    this.#targets = targets;
  }

  runRequest(caller: Caller | Stranger, frame: Req, signal: () => AbortSignal): CallAnswer | Promise<CallAnswer> {
    const call = this.authorize(caller, frame.call);
    if (!call.from.includes(caller.origin)) fail(403, `Permission denied: ${frame.call}`);
    if (call.only !== undefined && (call.only === "processes") !== isProcess(caller)) fail(403, `Permission denied: ${frame.call}`);
    const request: DecodedRequest = { call, args: decodeArgs(call.args, frame.args), frame, signal };
    if (caller.origin === "stranger") return this.#runKernelCall(request, caller);
    const answer = caller.agent === undefined ? this.#run(request, caller) : this.#judgeAndRun(request, caller);
    if (call.changes === undefined) return answer;
    return answer instanceof Promise
      ? answer.then((settled) => this.#announceChange(settled, request, caller))
      : this.#announceChange(answer, request, caller);
  }

  /** A call made inside the gateway. There is no frame to send first, so the `after` actions run before this returns. */
  async call(caller: Caller, name: string, args: Data, signal: AbortSignal): Promise<unknown> {
    const answer = await this.runRequest(caller, { type: "req", id: "", call: name, args }, () => signal);
    for (const action of answer.after) action();
    return answer.data;
  }

  /** Finds a call and authorizes it by its name alone; fails with 425, 403, 409 or 404. */
  authorize(caller: Caller | Stranger, name: string): Syscall {
    return authorize(callsByName, () => this.#store.reads.accounts.isSetupMode(), caller, name);
  }

  async #judgeAndRun(request: DecodedRequest, agent: Caller): Promise<CallAnswer> {
    const caller = await this.#judge.requireAllowed(request.call, agent, request.args);
    // The run may have been stopped while the judge awaited something.
    if (request.signal().aborted) fail(503, "The call was cancelled before it started");
    caller.agent?.onStart?.();
    return this.#run(request, caller);
  }

  #run(request: DecodedRequest, caller: Caller): CallAnswer | Promise<CallAnswer> {
    const { call, args, frame, signal } = request;
    if (call.runs === "hardware") return this.#runOnTarget(call, caller, args, frame, signal());
    if (call.runs === "sandbox") return this.#allowInSandbox(call, caller);
    if (!usesLane(call)) return this.#runKernelCall(request, caller);
    return this.#lanes.run(call, caller, signal(), async () => this.#runKernelCall(request, caller));
  }

  #runKernelCall({ call, args, frame, signal }: DecodedRequest, caller: Caller | Stranger): CallAnswer | Promise<CallAnswer> {
    if (call.runs !== "kernel") fail(403, "Must call sys.connect first");
    return runInKernel(this.#store, this.#targets.services, call, caller, args, frame, signal);
  }

  /** A process runs the call itself once it is allowed; a command that the process runs may not make it. */
  #allowInSandbox(call: SandboxSyscall, { agent }: Caller): CallAnswer {
    if (agent === undefined || agent.callId === null) fail(403, `Permission denied: ${call.name}`);
    return { data: {}, after: [] };
  }

  /** Runs a hardware call on the target that it names. What a device did stays done even if the kernel's batch is lost. */
  async #runOnTarget(call: HardwareSyscall, caller: Caller, args: Data, frame: Req, signal: AbortSignal): Promise<CallAnswer> {
    const { transfers, devices, gatewayTarget } = this.#targets;
    if (call.carries === "body")
      return { data: await transfers.run(call, caller, args, frame, signal), isDurableElsewhere: true, after: [] };
    const { target: _, ...rest } = args;
    const device = resolveTargetDevice(this.#store.reads, caller, call, args);
    if (device !== null) {
      const offlineAnswer = answerOfflinePoll(this.#store.reads, caller, frame, args, device);
      const data = offlineAnswer ?? (await devices.forward(call.name, caller, frame, device, rest, signal));
      return { data, isDurableElsewhere: true, after: [] };
    }
    mustHaveNoKey(call, frame);
    return this.#lanes.run(call, caller, signal, async () => ({
      data: await gatewayTarget.run(call, caller, rest, signal),
      isDurableElsewhere: call.isDurableBeforeAnswer === true,
      after: [],
    }));
  }

  /** After the answer, signals the change to clients that show it. Root may have changed something of another user. */
  #announceChange(answer: CallAnswer, { call, args }: DecodedRequest, { uid }: Caller): CallAnswer {
    const { emit } = this.#store;
    const ownerUid = typeof args.uid === "number" ? args.uid : uid;
    return { ...answer, after: [...answer.after, () => emit.announceChanges(ownerUid, [call.changes!])] };
  }
}

function isProcess(caller: Caller | Stranger): boolean {
  return caller.origin !== "stranger" && caller.agent !== undefined;
}
