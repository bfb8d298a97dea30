// Agent processes: each is its own Durable Object, which calls models itself and reaches everything else through the kernel's
// object (kernel-client.ts). Only the kernel's object can reach one; the Worker has no route to them.

import { DurableObject } from "cloudflare:workers";
import { makeAllowList } from "../../kernel/egress/allow.ts";
import { SysError } from "../../lib/sys-error.ts";
import { ProviderModels } from "../../models/models.ts";
import { LimitedLog } from "../../ports/limited-log.ts";
import { type Reply, replyOf, unwrapReply } from "../../ports/reply.ts";
import { ProcessActor } from "../../process/actor.ts";
import type { ProcessActors } from "../../ports/actors.ts";
import { makeCloudflareLog } from "./log.ts";
import { makeCloudflareNet } from "./net.ts";
import { type Env, kernelOf } from "./options.ts";
import type { ProcessFacts } from "./process-requests.ts";
import { RemoteKernel } from "./kernel-client.ts";
import { makeCloudflareSandbox } from "./sandbox.ts";
import { CloudflareSql } from "./sql.ts";
import engine from "../../generated/quickjs-metered.wasm";

/** The part of the namespace the kernel uses: the platform's own type cannot describe values it does not know. */
export type ProcessNamespace = { getByName(name: string): ProcessStub };

type ProcessStub = { call(pid: string, name: string, args: object): Promise<Reply> };

/** Stored because an alarm does not know its object's name. */
const PID = "pid";
/** The kernel's last facts, for a start while the kernel cannot be reached. */
const FACTS = "facts";
/**
 * The platform may evict an object that receives nothing for a minute or two, even while it waits for something. While there is
 * work, an alarm fires more often than that; if the memory is gone nevertheless, the alarm restarts the process.
 */
const BEAT_MS = 30_000;

export class ProcessObject extends DurableObject<Env> {
  #actor: Promise<ProcessActor> | null = null;

  call(pid: string, name: string, args: object): Promise<Reply> {
    return replyOf(this.#startActorOnce(pid).then((actor) => actor.call(name, args)));
  }

  /** Resolves when the kernel has received all events: if memory is lost before that, the platform repeats the alarm. */
  override async alarm(): Promise<void> {
    const pid = this.ctx.storage.kv.get<string>(PID);
    if (pid === undefined) return;
    const actor = await this.#startActorOnce(pid);
    actor.onWake();
    await actor.waitForDelivery();
  }

  #startActorOnce(pid: string): Promise<ProcessActor> {
    this.#actor ??= this.#startActor(pid).catch((error: unknown) => {
      this.#actor = null;
      throw error;
    });
    return this.#actor;
  }

  async #startActor(pid: string): Promise<ProcessActor> {
    const { storage } = this.ctx;
    if (storage.kv.get(PID) === undefined) storage.kv.put(PID, pid);
    const log = new LimitedLog(makeCloudflareLog(), Date.now);
    const remote = new RemoteKernel(pid, { makeStub: () => kernelOf(this.env) });
    let facts = await remote.fetchFacts().catch((error: unknown) => {
      const kept = storage.kv.get<ProcessFacts>(FACTS);
      if (kept === undefined) throw error;
      return kept;
    });
    this.#saveFacts(facts);
    const onFacts = (newer: ProcessFacts) => this.#saveFacts((facts = newer));
    const net = makeCloudflareNet({ isAllowed: (host, port) => makeAllowList(...facts.reachable)(host, port) });
    const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
    const uuid = () => crypto.randomUUID();
    const workersAi = this.env.AI === undefined ? {} : { workersAi: this.env.AI };
    return new ProcessActor(pid, {
      sql: new CloudflareSql(storage),
      models: new ProviderModels({ net, crypto: { randomBytes: bytes, uuid }, catalogue: () => facts.catalogue, ...workersAi }),
      sandbox: makeCloudflareSandbox(engine),
      kernel: remote.makePort(onFacts),
      now: () => Date.now(),
      uuid,
      archiveRoot: () => facts.archiveRoot,
      heartbeatMs: BEAT_MS,
      // Written like any row: if it fails, the platform restarts the object.
      wakeAt: (ms) => void (ms === null ? storage.deleteAlarm() : storage.setAlarm(ms)),
      log: (message, fields) => log.error(message, { pid, ...fields }),
    });
  }

  #saveFacts(facts: ProcessFacts): void {
    const { kv } = this.ctx.storage;
    if (JSON.stringify(kv.get(FACTS)) !== JSON.stringify(facts)) kv.put(FACTS, facts);
  }
}

export class CloudflareProcesses implements ProcessActors {
  readonly #namespace: ProcessNamespace;

  constructor(namespace: ProcessNamespace) {
    this.#namespace = namespace;
  }

  async call(pid: string, name: string, args: object): Promise<unknown> {
    return unwrapReply(await this.#namespace.getByName(pid).call(pid, name, args).catch(failUnreachable));
  }
}

function failUnreachable(error: unknown): never {
  throw new SysError(503, `The process cannot be reached now: ${error instanceof Error ? error.message : String(error)}`);
}
