// A process against a scripted model and a scripted kernel: what it says, runs, waits for and stops, and that a crash at any
// moment loses nothing, repeats nothing and leaves nothing hanging.

import { beforeEach, describe, expect, it } from "vitest";
import { NodeSql } from "../hosts/node/sql.ts";
import type { ModelEvent, ModelRequest, OutputBlock } from "../ports/models.ts";
import { turn, type Turn } from "../lib/turn.ts";
import type { ProcessEvent } from "./events.ts";
import type { ProcessPorts, SysCall, SysOutcome } from "./link.ts";
import { LEASE_MS, Process } from "./process.ts";

type Answer = OutputBlock[] | { error: string };

const text = (words: string): OutputBlock => ({ type: "text", text: words });
let calls = 0;
const tool = (name: string, args: Record<string, unknown>): OutputBlock => ({
  type: "toolCall",
  id: `call-${++calls}`,
  name,
  arguments: args,
});
const read = (path: string, target = "gsv") => tool("Read", { target, path });
const USAGE = {
  input: 10,
  output: 5,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 15,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

class World {
  readonly sql = new NodeSql(":memory:", () => {});
  readonly events: ProcessEvent[] = [];
  readonly requests: ModelRequest[] = [];
  readonly effects: SysCall[] = [];
  now = 1_000;
  wakeAt = 0;
  ids = 0;
  /** What the model answers, in turn; then it repeats what it was told last. */
  script: Answer[] = [];
  modelHolds: Turn | null = null;
  /** Answers a call, or null to leave it open. */
  sys: (call: SysCall) => Promise<SysOutcome> = async ({ args }) => ({
    kind: "done",
    isError: false,
    output: `content of ${String(args.path)}`,
  });
  life = 0;
  process: Process = undefined as never;

  constructor() {
    this.begin();
  }

  /** A new life over the same rows; whatever the last one was doing comes to nothing. */
  begin(): void {
    this.process?.close();
    const life = ++this.life;
    const isAlive = () => this.life === life;
    const never = new Promise<never>(() => {});
    const ports: ProcessPorts = {
      sql: this.sql,
      now: () => this.now,
      uuid: () => `run-${++this.ids}`,
      wakeBy: (ms) => (this.wakeAt = ms),
      log: (message, fields) => {
        throw new Error(`${message}: ${JSON.stringify(fields)}`);
      },
      models: { stream: (request, signal) => (isAlive() ? this.#stream(request, signal, isAlive) : hang()) },
      kernel: {
        prepare: async () => ({
          choice: { provider: "test", model: "m", apiKey: "", baseUrl: null, reasoning: "off", maxOutputTokens: 100 },
          fallback: null,
          contextWindow: 10_000,
          system: "be good",
          tools: [],
        }),
        sys: async (call) => {
          if (!isAlive()) return never;
          this.effects.push(call);
          const outcome = await this.sys(call);
          return isAlive() ? outcome : never;
        },
        emit: (events) => {
          if (isAlive()) this.events.push(...events);
        },
        stream: () => {},
      },
    };
    this.process = new Process("p", ports);
  }

  async *#stream(request: ModelRequest, signal: AbortSignal, isAlive: () => boolean): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const answer = this.script.shift() ?? [text(`you said ${JSON.stringify(request.messages.at(-1)?.content)}`)];
    if (this.modelHolds !== null) {
      const stopped = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      await Promise.race([this.modelHolds.promise, stopped]);
    }
    if (!isAlive()) await new Promise(() => {});
    if (signal.aborted) yield { type: "error", content: [], usage: null, error: { kind: "aborted", message: "aborted" } };
    else if ("error" in answer) yield { type: "error", content: [], usage: null, error: { kind: "other", message: answer.error } };
    else yield { type: "done", content: answer, usage: USAGE, stop: "end" };
  }

  say(words: string, more: { runId?: string; conversationId?: string } = {}) {
    return this.process.send({ said: { role: "user", text: words }, reason: "proc.send", ...more });
  }

  ends(): [string, string, string | null][] {
    return this.events
      .filter(({ signal }) => signal === "proc.run.finished")
      .map(({ payload }) => [String(payload.runId), String(payload.status), payload.text as string | null]);
  }

  history(conversationId = "default"): string[] {
    return this.process.history.page(conversationId, 0, 1_000).messages.map((message) => {
      if (message.role === "toolResult") return `${message.isError ? "failed" : "result"}: ${message.output}`;
      if (message.role === "assistant")
        return `assistant: ${message.blocks.map((block) => ("text" in block ? block.text : block.type)).join("|")}`;
      return `${message.role}: ${message.text}`;
    });
  }

  idle(): Promise<void> {
    return expect.poll(() => this.process.activeRun === undefined && this.process.waitingCount === 0).toBe(true);
  }
}

async function* hang(): AsyncGenerator<ModelEvent> {
  await new Promise(() => {});
  yield undefined as never;
}

let world: World;
beforeEach(() => {
  world = new World();
});

describe("a run", () => {
  it("answers what was said, and tells of each step in order", async () => {
    world.script = [[text("hello")]];
    expect(world.say("hi")).toEqual({ status: "started", runId: "run-1" });
    await world.idle();
    expect(world.history()).toEqual(["user: hi", "assistant: hello"]);
    await expect.poll(() => world.ends()).toEqual([["run-1", "ok", "hello"]]);
    expect(world.events.map(({ seq, signal }) => `${seq} ${signal}`)).toEqual([
      "1 proc.run.started",
      "2 proc.changed",
      "3 proc.changed",
      "4 proc.run.output",
      "5 proc.run.finished",
    ]);
    expect(world.process.events.after(3, 10)?.map(({ seq }) => seq)).toEqual([4, 5]);
    expect(world.process.events.after(99, 10)).toBeNull();
  });

  it("is the same when it is sent again under its id", async () => {
    world.say("hi", { runId: "mine" });
    expect(world.say("hi", { runId: "mine" })).toEqual({ status: "started", runId: "mine" });
    await world.idle();
    world.say("hi", { runId: "mine" });
    expect(world.history()).toHaveLength(2);
  });

  it("carries out what the model asks for, one after the other here, and tells it the results", async () => {
    world.script = [[text("let me look"), read("/a"), read("/b"), tool("Fly", {}), tool("Read", { target: "gsv" })], [text("done")]];
    world.say("what is in a and b?");
    await world.idle();
    expect(world.effects.map(({ syscall, args }) => `${syscall} ${String(args.path)}`)).toEqual(["fs.read /a", "fs.read /b"]);
    expect(world.history().slice(2)).toEqual([
      "result: content of /a",
      "result: content of /b",
      'failed: Error: Unknown tool "Fly". The tools are Read, Write, Edit, Delete, Search, Shell',
      expect.stringMatching(/^failed: Error: path is required/),
      "assistant: done",
    ]);
    expect(world.requests[1]?.messages.filter(({ role }) => role === "tool")).toHaveLength(4);
  });

  it("lets devices work side by side", async () => {
    const doors = new Map<string, Turn<SysOutcome>>();
    world.sys = ({ callId }) => {
      const door = turn<SysOutcome>();
      doors.set(callId, door);
      return door.promise;
    };
    const [first, second] = [read("/a", "lap"), read("/b", "desk")] as { id: string }[];
    world.script = [[first as never, second as never], [text("both")]];
    world.say("compare");
    await expect.poll(() => doors.size).toBe(2);
    doors.get(second!.id)?.resolve({ kind: "done", isError: false, output: "B" });
    doors.get(first!.id)?.resolve({ kind: "done", isError: false, output: "A" });
    await world.idle();
    expect(world.history().slice(2)).toEqual(["result: A", "result: B", "assistant: both"]);
  });

  it("ends visibly where the model fails or says nothing", async () => {
    world.script = [{ error: "no key" }, []];
    world.say("one");
    await world.idle();
    world.say("two");
    await world.idle();
    expect(world.history()).toEqual(["user: one", "system: Generation failed: no key", "user: two", "system: Generation failed."]);
    await expect.poll(() => world.ends().map(([, status]) => status)).toEqual(["error", "error"]);
  });

  it("waits for a person, and goes on when they have decided", async () => {
    let isAllowed = false;
    world.sys = async () => (isAllowed ? { kind: "done", isError: false, output: "deleted" } : { kind: "asked", requestId: "q" });
    world.script = [[tool("Delete", { target: "gsv", path: "/x" })], [text("gone")]];
    world.say("delete x");
    await expect.poll(() => world.effects.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(world.process.activeRun).toBeDefined();
    isAllowed = true;
    world.process.decided("q");
    world.process.decided("q");
    await world.idle();
    expect(world.effects).toHaveLength(2);
    expect(world.history().at(-1)).toBe("assistant: gone");
  });

  it("is over when nothing is heard of it for too long", async () => {
    world.sys = () => new Promise(() => {});
    world.script = [[read("/a")]];
    world.say("look");
    await expect.poll(() => world.effects.length).toBe(1);
    await expect.poll(() => world.wakeAt).toBe(world.now + LEASE_MS);
    world.now += LEASE_MS;
    world.process.woke();
    await world.idle();
    await expect.poll(() => world.ends()).toEqual([["run-1", "error", null]]);
    expect(world.history().at(-1)).toMatch(/^failed: /);
  });
});

describe("what comes while it works", () => {
  it("of the same conversation is heard between two steps, and answered with the run", async () => {
    world.modelHolds = turn();
    world.script = [[read("/a")], [text("both answered")]];
    world.say("first");
    expect(world.say("second")).toMatchObject({ queued: true });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history()).toEqual([
      "user: first",
      "assistant: toolCall",
      "result: content of /a",
      "user: second",
      "assistant: both answered",
    ]);
    await expect
      .poll(() => world.ends())
      .toEqual([
        ["run-2", "ok", "both answered"],
        ["run-1", "ok", "both answered"],
      ]);
  });

  it("else waits its turn", async () => {
    world.modelHolds = turn();
    world.script = [[text("one")], [text("two")]];
    world.say("first");
    world.say("second", { conversationId: "other" });
    world.modelHolds.resolve();
    await world.idle();
    expect([world.history(), world.history("other")]).toEqual([
      ["user: first", "assistant: one"],
      ["user: second", "assistant: two"],
    ]);
    await expect.poll(() => world.ends()).toHaveLength(2);
  });
});

describe("abort", () => {
  it("ends a run whatever the model is doing, and lets the next begin", async () => {
    world.modelHolds = turn();
    world.script = [[text("never")], [text("next")]];
    world.say("long");
    await expect.poll(() => world.requests.length).toBe(1);
    world.say("short", { conversationId: "other" });
    expect(world.process.abort()).toEqual({ aborted: true, runId: "run-1", continuedQueuedRunId: "run-2" });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history()).toEqual(["user: long"]);
    await expect
      .poll(() => world.ends())
      .toEqual([
        ["run-1", "aborted", null],
        ["run-2", "ok", "next"],
      ]);
    expect(world.process.abort()).toEqual({ aborted: false, runId: null, continuedQueuedRunId: null });
  });

  it("leaves a result for each call, and what comes late changes nothing", async () => {
    const late = turn<SysOutcome>();
    world.sys = () => late.promise;
    world.script = [[read("/a"), read("/b")], [text("again")]];
    world.say("look");
    await expect.poll(() => world.effects.length).toBe(1);
    world.process.abort();
    late.resolve({ kind: "done", isError: false, output: "late" });
    await world.idle();
    expect(world.history().slice(2)).toEqual([
      "failed: Error: User interrupted tool execution",
      "failed: Error: User interrupted tool execution",
    ]);
    world.say("and now?");
    await world.idle();
    expect(world.effects).toHaveLength(1);
    expect(world.history().at(-1)).toBe("assistant: again");
  });

  it("takes back what only waits", async () => {
    world.modelHolds = turn();
    world.say("first");
    world.say("second", { runId: "second", conversationId: "other" });
    expect(world.process.abort("second")).toMatchObject({ aborted: true, runId: "second" });
    world.modelHolds.resolve();
    await world.idle();
    expect(world.history("other")).toEqual([]);
  });
});

it("goes on after a crash at any moment: nothing lost, nothing doubled, every run ends once", async () => {
  for (let crashAt = 0; crashAt < 60; crashAt++) {
    const one = new World();
    const results = new Map<string, string>();
    let done = 0;
    // A kernel that carries a call out once, however often it is sent.
    one.sys = async ({ callId, args }) => {
      if (!results.has(callId)) results.set(callId, `${++done}: ${String(args.path)}`);
      return { kind: "done", isError: false, output: results.get(callId)! };
    };
    const answers: Answer[] = [[read("/a"), read("/b", "lap")], [read("/c")], [text("end of one")], [text("end of two")]];
    // A model that is asked again answers the same again.
    one.script = [];
    const script = (request: ModelRequest) => {
      const users = request.messages.filter(({ role }) => role === "user").length;
      const tools = request.messages.filter(({ role }) => role === "tool").length;
      return users > 1 && tools === 3 ? answers[3]! : tools === 0 ? answers[0]! : tools === 2 ? answers[1]! : answers[2]!;
    };
    const requests = one.requests;
    requests.push = (request: ModelRequest) => {
      one.script = [script(request)];
      return Array.prototype.push.call(requests, request);
    };
    one.say("one", { runId: "one" });
    one.say("two", { runId: "two", conversationId: "other" });
    for (let step = 0; step < crashAt; step++) await Promise.resolve();
    if (crashAt > 20) await new Promise((resolve) => setImmediate(resolve));
    one.sql.commit();
    one.begin();
    one.process.woke();
    await one.idle();
    const said = one.history();
    expect(
      said.filter((line) => line === "user: one"),
      `crash at ${crashAt}`,
    ).toHaveLength(1);
    expect(one.history("other").filter((line) => line === "user: two")).toHaveLength(1);
    expect([...results.values()].toSorted()).toEqual(["1: /a", "2: /b", "3: /c"]);
    expect(said.filter((line) => line.startsWith("result: "))).toEqual(["result: 1: /a", "result: 2: /b", "result: 3: /c"]);
    const ends = one.process.events.after(0, 1_000)!.filter(({ signal }) => signal === "proc.run.finished");
    expect(ends.map(({ payload }) => payload.runId)).toEqual(["one", "two"]);
  }
});
