// The stage for cases about agents: a user with processes, a scripted model, and all events of the processes in order.

import { expect } from "vitest";
import type { CallResult, Arguments } from "../../src/client/connection.ts";
import type { AnswerPiece, Client, FollowedEvent, Subscription } from "../../src/client/client.ts";
import type { Host } from "../support/host.ts";
import type { WireName } from "../support/models/provider.ts";
import { ScriptedModel } from "../support/models/scripted.ts";
import { verifies, type World } from "./verifies.ts";

export type Stage = {
  world: World;
  model: ScriptedModel;
  root: Client;
  /** The owner of the processes. */
  ann: Client;
  uid: number;
  /** Opens another connection of the same user. */
  again: () => Promise<Client>;
  /** Creates a new user who has used nothing yet. */
  somebody: () => Promise<Client>;
  /** Makes the model use another wire format. */
  serve: (wire: WireName) => Promise<void>;
  /** Starts a new process of this user and follows it. */
  spawn: (args?: SpawnArgs, by?: Client) => Promise<Watched>;
  /** Sets a configuration key as root until the end of the case. */
  set: (key: string, value: string) => Promise<void>;
};

type SpawnArgs = Parameters<typeof spawnArgs>[0];
type History = CallResult<"proc.history">;

/** Registers a case with a stage. */
export function stages(id: string, body: (stage: Stage) => Promise<void>, wire: WireName = "chat"): void {
  verifies(id, (world) => onStage(world, wire, body));
}

async function onStage(world: World, wire: WireName, body: (stage: Stage) => Promise<void>): Promise<void> {
  const model = await ScriptedModel.start();
  const watched: Watched[] = [];
  const previous: { key: string; value: string }[] = [];
  const root = await world.root();
  try {
    const auth = await annOf(world, root);
    const ann = await world.connect(auth);
    await model.serve(root, uidOf(ann), wire);
    await body({
      world,
      model,
      root,
      ann,
      uid: uidOf(ann),
      again: () => world.connect(auth),
      async somebody() {
        const person = await world.connect(await somebody(root));
        await model.serve(root, uidOf(person), wire);
        return person;
      },
      serve: (other) => model.serve(root, uidOf(ann), other),
      async spawn(args = {}, by = ann) {
        const { pid } = await by.call("proc.spawn", spawnArgs(args));
        const one = await watch(by, pid);
        watched.push(one);
        return one;
      },
      async set(key, value) {
        const { entries } = await root.call("sys.config.get", { key });
        previous.push({ key, value: entries.find((entry) => entry.key === key)?.value ?? "" });
        await root.call("sys.config.set", { key, value });
      },
    });
  } finally {
    for (const { client, pid } of watched) await client.call("proc.abort", { pid }).catch(() => {});
    for (const one of watched) one.stop();
    for (const { key, value } of previous.toReversed()) await root.call("sys.config.set", { key, value });
    await model.close();
  }
}

function spawnArgs(args: {
  profile?: string;
  label?: string;
  prompt?: string;
  parentPid?: string;
  workspace?: { mode: "new" } | { mode: "attach"; workspaceId: string };
  assignment?: { contextFiles: { name: string; text: string }[]; autoStart?: boolean };
}) {
  return { profile: "task", ...args };
}

function uidOf(client: Client): number {
  return client.session.identity.process.uid;
}

type Token = { username: string; token: string };
const anns = new WeakMap<Host, Promise<Token>>();
let people = 0;

/** One user for all cases on a host: hashing a password is slow. */
function annOf({ host }: World, root: Client): Promise<Token> {
  const ann = anns.get(host) ?? somebody(root, "ann");
  anns.set(host, ann);
  return ann;
}

async function somebody(root: Client, username = `ann${++people}`): Promise<Token> {
  const { user } = await root.call("sys.user.create", { username, password: "long enough" });
  const { token } = await root.call("sys.token.create", { kind: "user", uid: user.uid, expiresAt: null });
  return { username, token: token.token };
}

/** A process and all its events since it was followed. */
export class Watched {
  readonly client: Client;
  readonly pid: string;
  readonly events: FollowedEvent[] = [];
  readonly pieces: AnswerPiece[] = [];
  readonly #following: Subscription;

  constructor(client: Client, pid: string) {
    this.client = client;
    this.pid = pid;
    this.#following = client.follow({
      pid,
      onEvent: (event) => this.events.push(event),
      onPiece: (piece) => this.pieces.push(piece),
      onGap: (seq) => expect.fail(`events of ${pid} before ${seq} were missed`),
    });
  }

  get begun(): Promise<unknown> {
    return this.#following.begun;
  }

  stop(): void {
    this.#following.stop();
  }

  /** Sends a message and returns the run's id. */
  async say(message: string, more: { conversationId?: string; runId?: string } = {}): Promise<string> {
    return (await this.client.call("proc.send", { pid: this.pid, message, ...more })).runId;
  }

  /** Sends a message and waits for the end of its run. */
  async ask(message: string, more: { conversationId?: string } = {}): Promise<Record<string, unknown>> {
    return this.finished(await this.say(message, more));
  }

  of(signal: string, runId?: string): Record<string, unknown>[] {
    return this.events.flatMap((event) =>
      event.signal === signal && (runId === undefined || event.payload.runId === runId) ? [event.payload] : [],
    );
  }

  /** The first event with this signal, as soon as it arrives. */
  async told(signal: string, runId?: string): Promise<Record<string, unknown>> {
    await expect.poll(() => this.of(signal, runId).length, { message: `${signal} of ${runId ?? "any run"}` }).toBeGreaterThan(0);
    return this.of(signal, runId)[0]!;
  }

  async finished(runId: string): Promise<Record<string, unknown>> {
    const end = await this.told("proc.run.finished", runId);
    await this.told("chat.complete", runId);
    return end;
  }

  /** The question with this number, as soon as it was asked. */
  async asked(count = 1): Promise<Record<string, unknown> & { requestId: string; runId: string }> {
    await expect.poll(() => this.of("proc.run.hil.requested").length, { message: `question ${count}` }).toBeGreaterThanOrEqual(count);
    return this.of("proc.run.hil.requested")[count - 1] as Record<string, unknown> & { requestId: string; runId: string };
  }

  answer(requestId: string, decision: "approve" | "deny", more: Record<string, unknown> = {}) {
    return this.client.call("proc.hil", { pid: this.pid, requestId, decision, ...more });
  }

  history(more: Omit<Arguments<"proc.history">, "pid"> = {}): Promise<History> {
    return this.client.call("proc.history", { pid: this.pid, ...more });
  }

  /** The newest tool result. */
  async result(): Promise<{ toolName: string; isError: boolean; output: string; toolCallId: string }> {
    const { messages } = await this.history({ limit: 1000 });
    return messages.findLast(({ role }) => role === "toolResult")?.content as never;
  }
}

export async function watch(client: Client, pid: string): Promise<Watched> {
  const watched = new Watched(client, pid);
  await watched.begun;
  return watched;
}
