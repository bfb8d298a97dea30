// A posture ends in time, whatever happens to the gateway meanwhile, and its owner's clients are told. What an agent sends is answered as
// strictly as it was sent, however long it waits and whatever happens meanwhile.

import { beforeEach, describe, expect, it } from "vitest";
import { TRUSTED_MS } from "../../src/approval/posture.ts";
import { RUN_FINISHED } from "../../src/protocol/signal-names.ts";
import { HOUR_MS, INIT, SECOND_MS } from "./scheduling.ts";
import { TimedWorld } from "./timed-world.ts";

type Settings = { effective: { posture: string }; settings: { posture: string | null } };

it("ends after a day, with an event, also if the gateway crashes or is down at that time", async () => {
  const world = await TimedWorld.make();
  const read = () => world.call<Settings>("proc.settings.get", {});
  const announced = () =>
    world.heard.get(world.alice)!.filter((frame) => frame.signal === "proc.changed" && JSON.stringify(frame).includes('"settings"'));
  await world.call("proc.settings.set", { posture: "trusted" });
  await world.pass(60_000);
  world.crash();
  await world.start();
  expect((await read()).effective.posture).toBe("trusted");
  await world.pass(TRUSTED_MS);
  expect(announced()).toHaveLength(1);
  expect(await read()).toMatchObject({ effective: { posture: "careful" }, settings: { posture: null } });

  await world.call("proc.settings.set", { posture: "trusted" });
  await world.pass(60_000);
  await world.restart(TRUSTED_MS);
  expect((await read()).effective.posture).toBe("careful");
  await world.pass(1_000);
  expect((await read()).settings.posture).toBe(null);
});

describe("a message of a stricter agent to a trusted one", () => {
  let world: TimedWorld;
  /** Trusted, except where a stricter agent has sent a message. */
  let pid: string;

  beforeEach(async () => {
    world = await TimedWorld.make();
    pid = await spawn();
    await world.call("proc.settings.set", { pid, posture: "trusted" });
    for (const conversationId of ["x", "y"]) await world.call("proc.conversation.open", { pid, conversationId });
  });

  const spawn = async () => (await world.call<{ pid: string }>("proc.spawn", { profile: "task" })).pid;

  /** By Alice. */
  const send = (message: string, conversationId = "default") => world.call("proc.send", { pid, conversationId, message });

  const postureOf = async (conversationId = "default") =>
    (await world.call<Settings>("proc.settings.get", { pid, conversationId })).effective.posture;

  async function finishRuns(): Promise<void> {
    world.models.release();
    await world.pass(SECOND_MS);
  }

  /** A message of an agent that asks before every action waits there. */
  async function queueStrictMessage(): Promise<void> {
    await world.call("proc.settings.set", { pid: INIT, posture: "ask" });
    await send("this waits");
    await world.callAs(INIT, "proc.ipc.send", { pid, message: "the answer waits" });
    expect(await postureOf()).toBe("ask");
  }

  it("stays strict when it is sent on to another conversation", async () => {
    await world.callAs(INIT, "proc.ipc.send", { pid, message: "send yourself something, which waits" });
    expect(await postureOf()).toBe("careful");
    expect(await postureOf("x")).toBe("trusted");
    await world.callAs(pid, "proc.ipc.send", { pid, conversationId: "x", message: "this waits" });
    await finishRuns();
    expect(await postureOf()).toBe("trusted");
    expect(await postureOf("x")).toBe("careful");
    await finishRuns();
    expect(await postureOf("x")).toBe("trusted");
  });

  it.each(["an answer", "a timeout"])("makes it as strict when %s comes back that it asked for", async (what) => {
    await world.callAs(INIT, "proc.ipc.send", { pid, message: "call somebody, which waits" });
    const timeoutMs = what === "a timeout" ? 2 * SECOND_MS : 60 * SECOND_MS;
    await world.callAs(pid, "proc.ipc.call", { pid: await spawn(), message: "takes 5000 ms", timeoutMs });
    await send("this waits", "y");
    await finishRuns();
    expect(await postureOf()).toBe("trusted");
    // It is busy in its other conversation, so the answer waits.
    await world.pass(6 * SECOND_MS);
    expect(await postureOf()).toBe("careful");
    await finishRuns();
    expect(await postureOf()).toBe("trusted");
  });

  it("stays strict on hold, while other runs end, and when it is resumed", async () => {
    await queueStrictMessage();
    await world.call("proc.abort", { pid, pauseQueue: true });
    expect(await postureOf()).toBe("ask");
    await send("something else", "y");
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("ask");
    await world.call("proc.queue.resume", { pid });
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("ask");
    await finishRuns();
    expect(await postureOf()).toBe("trusted");
  });

  it.each(["stopped", "rewound"])("stays strict on hold after what it waited for was %s, over a restart of the gateway", async (what) => {
    await queueStrictMessage();
    if (what === "stopped") await world.call("proc.abort", { pid, pauseQueue: true });
    else await world.call("proc.conversation.rewind", { pid, beforeMessageId: 1 });
    await world.restart();
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("ask");
    await world.call("proc.queue.resume", { pid });
    await world.restart();
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("ask");
    world.models.answersAtOnce = true;
    await world.restart(HOUR_MS);
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("trusted");
  });

  it("stays strict if the end of an earlier run is delivered after it", async () => {
    await queueStrictMessage();
    await finishRuns();
    const port = world.kernel.kernelPortFor(pid);
    const seq = (await port.lastReceivedSeq()) + 1;
    const payload = { pid, queuedCount: 0, timestamp: world.now, runId: "earlier", conversationId: "default", wallMs: 0 };
    const end = { ...payload, status: "ok" as const, reason: "completed", text: null };
    await port.emit([{ seq, signal: RUN_FINISHED, payload: end }]);
    expect(await postureOf()).toBe("ask");
  });

  it("leaves no strictness behind if a crash loses it before it arrives", async () => {
    await world.pass(SECOND_MS);
    let isSent = false;
    world.onProcessCall = (_, name) => (name === "send" ? new Promise(() => (isSent = true)) : undefined);
    const call = { runId: "run", conversationId: "default", callId: "lost", tool: "CodeMode", isRepeat: false };
    const sys = { ...call, syscall: "proc.ipc.send", args: { pid, message: "never arrives" } };
    void world.kernel.kernelPortFor(INIT).runSyscall(sys, new AbortController().signal, () => {});
    await world.passUntil(() => isSent, "the message");
    expect(await postureOf()).toBe("careful");
    world.onProcessCall = () => {};
    await world.restart();
    await world.pass(SECOND_MS);
    expect(await postureOf()).toBe("trusted");
  });
});
