// A gateway whose model does exactly what the last message says, and devices that only record what reaches them: for bars that
// check what an agent can cause.

import { randomUUID } from "node:crypto";
import type { Client } from "../../../src/client/client.ts";
import type { HilRequest } from "../../../src/protocol/proc-records.ts";
import type { Host } from "../../support/host.ts";
import { ScriptedModel } from "../../support/models/scripted.ts";
import type { Reply, Asked } from "../../support/models/provider.ts";
import { startNodeHost } from "../../support/node-host.ts";
import { ALICE, BOB, enter, populate, ROOT } from "../../support/people.ts";
import { type Asked as DeviceAsked, Puppet } from "../devices/puppet.ts";
import { heard } from "./heard.ts";

export type Wish = [tool: string, args: Record<string, unknown>];
export type Moment = { question: HilRequest } | { ended: { status: string; text: string | null; error?: string } };

/** A guard against hangs; only a busy machine comes close. */
const PATIENCE_MS = 60_000;
const ORDER = "DO ";

export class Stage {
  readonly host: Host & { home: string };
  readonly model: ScriptedModel;
  readonly alice: Client;
  readonly bob: Client;
  readonly root: Client;
  /** The devices of alice and of bob. */
  readonly puppets: Record<string, Puppet> = {};
  readonly #moments = new Map<string, Moment[]>();
  readonly #waiting = new Map<string, () => void>();

  static async start(): Promise<Stage> {
    const host = await startNodeHost();
    await populate(host);
    const model = await ScriptedModel.start();
    const [alice, bob, root] = [await enter(host, ALICE), await enter(host, BOB), await enter(host, ROOT)];
    for (const [name, value] of Object.entries(model.settings("chat")))
      await root.call("sys.config.set", { key: `config/ai/${name}`, value });
    model.otherwise((asked) => obeys(asked));
    return new Stage(host, model, { alice, bob, root });
  }

  private constructor(host: Host & { home: string }, model: ScriptedModel, people: Record<"alice" | "bob" | "root", Client>) {
    this.host = host;
    this.model = model;
    this.alice = people.alice;
    this.bob = people.bob;
    this.root = people.root;
    for (const client of Object.values(people)) client.onSignal(({ signal, payload }) => this.#receiveSignal(signal, payload));
  }

  /** Connects a device that executes nothing. */
  async plug(owner: Client, deviceId: string): Promise<Puppet> {
    const { token } = await owner.call("sys.token.create", { kind: "node", allowedDeviceId: deviceId });
    const puppet = await Puppet.open(this.host.url, deviceId);
    puppet.onAsked = ({ id, call }) =>
      puppet.answer(id, call === "shell.exec" ? { status: "completed", output: "", exitCode: 0 } : { ok: true });
    await puppet.enter({ username: owner.session.identity.process.username, token: token.token });
    this.puppets[deviceId] = puppet;
    return puppet;
  }

  /** Tells an agent to make these calls, one after the other. Returns the run's id. */
  async order(by: Client, wishes: readonly Wish[], pid?: string): Promise<string> {
    const runId = randomUUID();
    this.#moments.set(runId, []);
    await by.call("proc.send", { runId, message: ORDER + JSON.stringify(wishes), ...(pid === undefined ? {} : { pid }) });
    return runId;
  }

  /** The next question of a run, or its end. */
  async next(runId: string): Promise<Moment> {
    const moments = this.#moments.get(runId)!;
    const present = moments.shift();
    if (present !== undefined) return present;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.set(runId, resolve);
      timer = setTimeout(() => reject(new Error(`nothing was heard of run ${runId}`)), PATIENCE_MS);
    });
    clearTimeout(timer);
    return moments.shift()!;
  }

  /** The calls that have reached devices so far. */
  get reached(): DeviceAsked[] {
    return Object.values(this.puppets).flatMap(({ asked }) => asked);
  }

  async close(): Promise<void> {
    for (const puppet of Object.values(this.puppets)) puppet.close();
    for (const client of [this.alice, this.bob, this.root]) client.close();
    await this.host.close();
    await this.model.close();
  }

  #receiveSignal(signal: string, payload: Record<string, unknown>): void {
    const runId = String(payload?.runId);
    const moments = this.#moments.get(runId);
    if (moments === undefined) return;
    if (signal === "proc.run.hil.requested") {
      const question = payload as HilRequest;
      // Several connections of one person receive it.
      if (moments.some((one) => "question" in one && one.question.requestId === question.requestId)) return;
      moments.push({ question });
    } else if (signal === "proc.run.finished") {
      if (moments.some((one) => "ended" in one)) return;
      moments.push({ ended: payload as { status: string; text: string | null } });
    } else return;
    this.#waiting.get(runId)?.();
    this.#waiting.delete(runId);
  }
}

/** Makes the calls of the last order, one per turn. */
export function obeys(asked: Asked): Reply {
  const said = heard(asked);
  const at = said.findLastIndex((one) => one.type === "user" && one.text.includes(ORDER));
  const order = said[at];
  if (order?.type !== "user") return { say: [{ type: "text", text: "Nothing was ordered." }] };
  const wishes = JSON.parse(order.text.slice(order.text.indexOf(ORDER) + ORDER.length).split("\n")[0]!) as Wish[];
  const done = said.slice(at).filter(({ type }) => type === "call").length;
  const wish = wishes[done];
  if (wish === undefined) return { say: [{ type: "text", text: "All of it was tried." }] };
  return { say: [{ type: "call", id: `c-${randomUUID()}`, name: wish[0], args: JSON.stringify(wish[1]) }] };
}
