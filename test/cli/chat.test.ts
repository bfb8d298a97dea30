// gsv chat, interactive and from scripts: the real bundle, in tmux or with pipes, against a gateway in its own process that can
// be killed, and a model that says what the test scripts.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Client } from "../../src/client/client.ts";
import { BUILD } from "../support/current-build.ts";
import { runAtEnd } from "../support/at-end.ts";
import type { Host } from "../support/host.ts";
import { recorded, ScriptedProvider } from "../support/models/provider.ts";
import type { Said, Script } from "../support/models/script.ts";
import { ALICE, BOB, enter, populate, ROOT } from "../support/people.ts";
import { steadyPort } from "../support/steady-port.ts";
import { hasTmux, Terminal } from "../support/tmux.ts";

const KEYS = "y allow once   a allow exactly this for a day   n deny";

let scratch: string;
let gateway: ChildProcess;
let host: Host;
let client: Client;
let provider: ScriptedProvider;
let token: string;
/** Each test has its own process. */
let pid: string;
let screens = 0;
let terminal: Terminal | null = null;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-chat-"));
  const port = await steadyPort();
  host = { name: "node", url: `http://127.0.0.1:${port}`, setupCode: null, restart: async () => {}, close: async () => {} };
  gateway = await startGateway();
  await populate(host);
  provider = await ScriptedProvider.start();
  const root = await enter(host, ROOT);
  const settings = { provider: "openai-compatible", model: "scripted", base_url: `http://${provider.host}/v1`, api_key: "none" };
  for (const [key, value] of Object.entries(settings)) await root.call("sys.config.set", { key: `config/ai/${key}`, value });
  root.close();
  client = await enter(host, ALICE);
  client.keepConnected();
  token = (await client.call("sys.token.create", { kind: "user" })).token.token;
});

beforeEach(async () => {
  pid = (await client.call("proc.spawn", { profile: "task", label: "test" })).pid;
});

afterEach(async () => {
  terminal?.close();
  terminal = null;
  await client.call("proc.kill", { pid, archive: false });
});

afterAll(async () => {
  client?.close();
  if (gateway !== undefined) await killGateway();
  await provider?.close();
  rmSync(scratch, { recursive: true, force: true });
});

describe.skipIf(!hasTmux)("at a terminal", () => {
  test("an answer streams with its markdown, and the next message follows it", async () => {
    provider
      .on("hello there", answerWith("# Title\nThis is **bold** and `code`.\n- one\n- two"))
      .on("go on", answerWith("And that was all."));
    const chat = await open();
    await chat.shows("New conversation. Type /help");
    chat.say("hello there");
    await chat.shows("› hello there\n\nTitle\nThis is bold and code.\n• one\n• two\n\n›");
    chat.say("go on");
    await chat.shows("› go on\n\nAnd that was all.\n\n›");
    expect(count(chat.screen(), "hello there")).toBe(1);
    chat.keys("C-d");
    await chat.shows("code=0");
    const again = await reopen();
    await again.shows("4 messages so far");
    await again.shows("› go on\n\nAnd that was all.");
  });

  test("each tool call takes one line, and its result is shown on request", async () => {
    await client.call("fs.write", { path: "~/seen.txt", content: "what is in it\n" });
    provider.on("look", callTool("Read", { target: "gsv", path: "~/seen.txt" }, "I look."), answerWith("I saw it."));
    const chat = await open();
    chat.say("look");
    await chat.shows(/I look\.\n• Read gsv {2}~\/seen\.txt {2}ok \d+\.\d s\nI saw it\.\n/);
    expect(chat.screen()).not.toContain("what is in it");
    chat.keys("C-o");
    await chat.shows("what is in it");
    chat.say("/usage");
    await chat.shows(/model calls {2}2\n *tool calls {3}1/);
    chat.say("/context");
    await chat.shows("openai-compatible/scripted");
    chat.say("/nonsense");
    await chat.shows("Unknown command /nonsense");
    chat.say("/new Other things");
    await chat.shows("New conversation:");
    chat.say("/conversations");
    await chat.shows(/\* .*Other things/);
  });

  test("a question shows the exact call, and y allows it once", async () => {
    const path = await file("once");
    provider.on("delete it with a yes", callTool("Delete", { target: "gsv", path }), answerWith("It is gone."));
    const chat = await open();
    chat.say("delete it with a yes");
    await chat.shows(`? Delete ${path} on the gateway?\n  path: ${path}\n  Deleting files needs your OK.\n`);
    await chat.shows(KEYS);
    expect(await exists(path)).toBe(true);
    chat.keys("y");
    await chat.shows("  allowed once\n");
    await chat.shows("It is gone.");
    expect(await exists(path)).toBe(false);
  });

  test("a key typed before the question appears does not answer it, and n refuses with a reason", async () => {
    const path = await file("no");
    const hold = createHold();
    provider.on("delete it later", async () => (await hold.released, callTool("Delete", { target: "gsv", path })), answerWith("Then not."));
    const chat = await open();
    chat.say("delete it later");
    await chat.shows(/waiting for scripted, \d+ s; Ctrl-C to stop/);
    chat.type("yy");
    await chat.shows("› yy");
    hold.release();
    await chat.shows("? Delete ");
    await chat.shows("a question is waiting above: press Tab, then answer it with a key");
    chat.type("y");
    await chat.shows("› yyy");
    expect(await exists(path)).toBe(true);
    chat.keys("Tab");
    await chat.shows(KEYS);
    chat.type("n");
    await chat.shows("reason (optional):");
    chat.say("I need it");
    await chat.shows("  denied: I need it");
    await chat.shows("Then not.");
    expect(JSON.stringify(provider.asked.at(-1)?.body)).toContain("I need it");
    expect(await exists(path)).toBe(true);
    // The half-typed message is still there.
    await chat.shows("› yyy");
  });

  test("a allows exactly this call for a day, and the grant can be listed and revoked", async () => {
    const path = await file("day");
    provider.on("delete it today", callTool("Delete", { target: "gsv", path }), answerWith("Gone the first time."));
    const chat = await open();
    chat.say("delete it today");
    await chat.shows(KEYS);
    chat.keys("a");
    await chat.shows("Gone the first time.");
    await file("day");
    provider.on("once more", callTool("Delete", { target: "gsv", path }), answerWith("Gone again, unasked."));
    chat.say("once more");
    await chat.shows("Gone again, unasked.");
    expect(count(chat.screen(), "? Delete ")).toBe(1);
    const { grants } = await client.call("proc.approval.list", { pid });
    expect(grants).toMatchObject([{ scope: "exact" }]);
    const { out } = await gsv(["approvals"]);
    expect(out).toContain(grants[0]!.says);
    expect(out).toContain(`    path: ${path}\n`);
    expect((await gsv(["approvals", "revoke", grants[0]!.grantId.slice(0, 8)])).out).toBe(`Revoked ${grants[0]!.grantId}\n`);
    expect((await client.call("proc.approval.list", { pid })).grants).toEqual([]);
  });

  test("a question that is answered elsewhere disappears", async () => {
    const path = await file("elsewhere");
    provider.on("delete it for somebody", callTool("Delete", { target: "gsv", path }), answerWith("Somebody allowed it."));
    const chat = await open();
    chat.say("delete it for somebody");
    await chat.shows(KEYS);
    const { pending } = await client.call("proc.approval.list", { pid });
    await client.call("proc.hil", { requestId: pending[0]!.requestId, decision: "approve" });
    await chat.shows("Somebody allowed it.");
    await expect.poll(() => chat.screen()).not.toContain(KEYS);
  });

  test("a run that has used up its budget asks whether it may continue", async () => {
    const key = "users/1000/ai/budget/run/model_calls";
    await client.call("sys.config.set", { key, value: "1" });
    try {
      provider.on("look around", callTool("Read", { target: "gsv", path: "~" }), answerWith("With a little more I am done."));
      const chat = await open();
      chat.say("look around");
      await chat.shows("? Continue beyond the budget?");
      await chat.shows("y continue   n stop");
      chat.keys("y");
      await chat.shows("With a little more I am done.");
    } finally {
      await client.call("sys.config.set", { key, value: "unlimited" });
    }
  });

  test("Ctrl-C stops the run and puts queued messages on hold until /resume, and pressed twice it leaves", async () => {
    provider.on("first", hangAfter("This is the first half", " and this never comes"));
    // The model gets the stopped message before it, in the same message.
    provider.on(/second$/, answerWith("The second one."));
    const chat = await open();
    chat.say("first");
    await chat.shows("This is the");
    chat.say("second");
    await chat.shows("queued: second");
    chat.keys("C-c");
    // The word that had not ended is kept too.
    await chat.shows(/This is the firs\w*\nstopped/);
    await chat.shows("1 message is on hold");
    await chat.shows("on hold: second");
    chat.say("/resume");
    await chat.shows("› second\n\nThe second one.\n");
    expect(chat.screen()).not.toContain("on hold: second");
    expect(chat.screen()).not.toContain("never comes");
    chat.keys("C-c");
    await chat.shows("press Ctrl-C again");
    chat.keys("C-c");
    await chat.shows("code=0");
  });

  test("a process keeps working after the chat is left", async () => {
    const hold = createHold();
    provider.on("take your time", async () => (await hold.released, answerWith("Done meanwhile.")));
    const chat = await open();
    chat.say("take your time");
    await chat.shows("Ctrl-C to stop");
    chat.keys("C-d");
    await chat.shows("The run continues");
    await chat.shows("code=0");
    hold.release();
    await expect.poll(async () => JSON.stringify((await client.call("proc.history", { pid })).messages)).toContain("Done meanwhile.");
    await (await reopen()).shows("Done meanwhile.");
  });

  test("an answer is complete and not repeated when the gateway is killed in the middle of it and restarted", async () => {
    const words = Array.from({ length: 60 }, (_, at) => `word${at}.`).join(" ");
    let isBack = false;
    provider.on("one", answerWith("Before."));
    // For every retry of the call.
    provider.on(/^two/, () => (isBack ? answerWith(words) : hangAfter(words.slice(0, 200), words.slice(200))));
    const chat = await open();
    chat.say("one");
    await chat.shows("Before.");
    chat.say("two");
    await chat.shows("word20.");
    await killGateway();
    await chat.shows("connection lost; reconnecting");
    isBack = true;
    gateway = await startGateway();
    await chat.shows(/word59\.\n\n› type a message/);
    const screen = chat.screen();
    for (let at = 0; at < 60; at++) expect(count(screen, `word${at}.`)).toBe(1);
    for (const said of ["› one", "› two", "Before."]) expect(count(screen, said)).toBe(1);
  });

  test("a message typed while the gateway is down is sent once when it is back", async () => {
    provider.on("are you still there?", answerWith("Here again."));
    const chat = await open();
    await killGateway();
    await chat.shows("connection lost; reconnecting");
    chat.say("are you still there?");
    await chat.shows("sending: are you still there?");
    gateway = await startGateway();
    await chat.shows("› are you still there?\n\nHere again.\n\n› type a message");
    expect(count(chat.screen(), "are you still there?")).toBe(1);
    const { messages } = await client.call("proc.history", { pid });
    expect(messages.map(({ content }) => content)).toEqual(["are you still there?", "Here again."]);
  });
});

describe.skipIf(!hasTmux)("one message at a terminal", () => {
  test("is answered there, and so are its questions", async () => {
    const [first, second] = [await file("first"), await file("second")];
    const both = [...callTool("Delete", { target: "gsv", path: first }).say, ...callTool("Delete", { target: "gsv", path: second }).say];
    provider.on("delete both", { say: both }, answerWith("One of them is gone."));
    const once = run("chat", "--pid", pid, "delete both");
    await once.shows(KEYS);
    once.keys("y");
    await once.shows("allowed once");
    await expect.poll(() => count(once.screen(), KEYS)).toBe(2);
    once.keys("n");
    await once.shows("reason (optional):");
    once.say("");
    await once.shows("One of them is gone.\ncode=0");
    expect([await exists(first), await exists(second)]).toEqual([false, true]);
  });

  test("is stopped by Ctrl-C", async () => {
    provider.on("say something long", hangAfter("This is the first half", " and this never comes"));
    const once = run("chat", "--pid", pid, "say something long");
    await once.shows("This is the");
    once.keys("C-c");
    await once.shows(/This is the\^C firs\w*\nstopping; press Ctrl-C again to leave\nstopped\ncode=130/);
    await expect.poll(async () => (await client.call("proc.list", {})).processes.find((one) => one.pid === pid)?.state).toBe("idle");
  });
});

describe("from a script", () => {
  test("the answer goes to a pipe unchanged, and piped input is added to the message", async () => {
    provider.on(/^summarize this/, callTool("Read", { target: "gsv", path: "~" }, "I look."), answerWith("**The** answer"));
    const { code, out, err } = await gsv(["chat", "--pid", pid, "summarize", "this"], "line one\nline two\n");
    expect({ code, out }).toEqual({ code: 0, out: "I look.\n**The** answer\n" });
    expect(err).toMatch(/^• Read gsv {2}~ {2}ok \d+\.\d s\n$/);
    expect(JSON.stringify(provider.asked.at(-1)?.body)).toContain(JSON.stringify("summarize this\n\nline one\nline two").slice(1, -1));
  });

  test("--json prints one object, and --events one line per event", async () => {
    provider.on("one object", answerWith("An answer.")).on("each event", answerWith("Another."));
    const object = await gsv(["chat", "--pid", pid, "one object", "--json"]);
    expect(JSON.parse(object.out)).toMatchObject({ pid, conversationId: "default", status: "ok", text: "An answer.", tools: [] });
    const events = await gsv(["chat", "--pid", pid, "--new", "--title", "A title", "--events", "each event"]);
    const lines = events.out.trim().split("\n");
    const signals = lines.map((line) => JSON.parse(line) as { signal: string; payload: { status?: string; text?: string } });
    expect(signals[0]).toMatchObject({ signal: "proc.run.started" });
    expect(signals.at(-1)).toMatchObject({ signal: "proc.run.finished", payload: { status: "ok", text: "Another." } });
    const { conversations } = await client.call("proc.conversation.list", { pid });
    expect(conversations.map(({ title }) => title)).toContain("A title");
  });

  test("a failed run says what to do and exits with 1, and an empty message exits with 2", async () => {
    provider.on("fail", { status: 401 });
    const failed = await gsv(["chat", "--pid", pid, "fail"]);
    expect(failed).toMatchObject({ code: 1, out: "" });
    expect(failed.err).toMatch(/^error: .+\nSend the message again to retry\. To see which model is used/);
    expect(await gsv(["chat", "--pid", pid])).toMatchObject({
      code: 2,
      err: expect.stringContaining("No message: standard input is empty") as string,
    });
    expect(await gsv(["chat", "--pid", "no-such", "x"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("gsv proc list") as string,
    });
    expect(await gsv(["chat", "--pid", pid, "--conversation", "none", "x"])).toMatchObject({ code: 1 });
  });

  test("a question without a terminal exits with 4, and gsv approvals answers it", async () => {
    const path = await file("asked");
    provider.on("delete it from a script", callTool("Delete", { target: "gsv", path }), answerWith("Gone."));
    const asked = await gsv(["chat", "--pid", pid, "delete it from a script"]);
    expect(asked.code).toBe(4);
    const [, requestId = ""] = /gsv approvals approve (\S+),/.exec(asked.err) ?? [];
    expect(asked.err).toContain(`? Delete ${path} on the gateway?\n  path: ${path}\n`);
    const listed = await gsv(["approvals"]);
    expect(listed.out).toContain(`${requestId}   Delete ${path} on the gateway?`);
    expect(listed.out).toContain(`path: ${path}\n`);
    expect(await gsv(["approvals", "approve", "zzz"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("gsv approvals lists") as string,
    });
    expect(await gsv(["approvals", "approve", requestId.slice(0, 8)])).toMatchObject({ code: 0, out: "Allowed once\n" });
    await expect.poll(() => exists(path)).toBe(false);
    expect((await gsv(["approvals", "history", "--json"])).out).toContain(requestId);
  });

  test("--wait waits until the question is answered elsewhere", async () => {
    const path = await file("waited");
    provider.on("delete it and wait", callTool("Delete", { target: "gsv", path }), answerWith("Not gone."));
    const waiting = gsv(["chat", "--pid", pid, "--wait", "delete it and wait"]);
    await expect.poll(async () => (await client.call("proc.approval.list", { pid })).pending.length).toBe(1);
    const { pending } = await client.call("proc.approval.list", { pid });
    expect((await gsv(["approvals", "deny", pending[0]!.requestId, "--reason", "keep it"])).out).toBe("Denied: keep it\n");
    expect(await waiting).toMatchObject({ code: 0, out: "Not gone.\n" });
  });
});

test("gsv proc starts, lists, messages and kills processes", async () => {
  const spawned = await gsv(["proc", "spawn", "--label", "helper", "--parent", pid.slice(0, 10)]);
  const child = spawned.out.trim();
  expect((await gsv(["proc", "list"])).out).toMatch(new RegExp(`^PID .*\n[^]*${child} +idle +task +helper +0 +`));
  expect((await gsv(["proc", "tree"])).out).toMatch(new RegExp(`└─ ${pid} [^]*   └─ ${child} +idle +helper`));
  provider.on("are you there?", answerWith("I heard that."));
  expect((await gsv(["proc", "send", "--pid", "helper", "are you there?"])).out).toMatch(/^Started as run \S+\n$/);
  await expect.poll(async () => (await gsv(["proc", "history", "--pid", child])).out).toContain("I heard that.");
  const { messages } = JSON.parse((await gsv(["proc", "history", "--pid", child, "--json"])).out) as { messages: { content: unknown }[] };
  expect(messages.map(({ content }) => content)).toEqual(["are you there?", "I heard that."]);
  expect((await gsv(["proc", "usage", child])).out).toMatch(/^process +\S+\nmodel calls +1\n/);
  expect((await gsv(["proc", "usage", "--days", "1"])).out).toMatch(/^DAY /);
  expect((await gsv(["proc", "context", child])).out).toMatch(/^model +openai-compatible\/scripted\n/);
  expect((await gsv(["proc", "abort", child])).out).toBe(`${child} is not working on anything\n`);
  expect((await gsv(["proc", "reset", child])).out).toMatch(/^Reset \S+; its 2 messages are archived in \/var\/sessions\//);
  expect((await gsv(["proc", "history", "--pid", child])).err).toContain("No messages yet");
  expect((await gsv(["proc", "kill", child])).out).toMatch(new RegExp(`^Ended everything that ${child} was doing`));
  expect(await gsv(["proc", "kill", "no-such"])).toMatchObject({ code: 1, err: expect.stringContaining("gsv proc list") as string });
});

test("the gateway's shell has a proc command, which inside a process means that process", async () => {
  const shell = async (input: string) => {
    const done = await client.call("shell.exec", { input });
    return done.status === "running" ? "" : done.output;
  };
  expect(await shell("proc list")).toMatch(/^PID +STATE +PROFILE +LABEL\n[^]*init:1000 +\S+ +init +init \(alice\)\n/);
  expect(await shell(`proc policy --pid ${pid}`)).toMatch(/^conversation=default overflow=\S+ compact_at=\S+ keep_last=\d+\n$/);
  expect(await shell(`proc policy --pid ${pid} --overflow fail --keep-last 5`)).toMatch(/overflow=fail compact_at=\S+ keep_last=5\n$/);
  expect(await shell("proc policy")).toContain("select a process with --pid P");
  expect(await shell("proc self")).toContain("only inside a process");
  expect(await shell("proc call x y")).toContain("only inside a process");
  expect(await shell("proc call x y --timeout soon")).toContain("invalid duration: soon");
  expect(await shell("proc nonsense")).toContain("unknown subcommand nonsense");
  expect(await shell("man proc")).toContain("proc compact (--keep-last N | --through-message-id ID)");
  const other = (await client.call("proc.spawn", { profile: "task", label: "other" })).pid;
  const run = "proc self; proc policy; proc send " + other + " hello from here; cat /proc/self/status";
  provider.on("try it", callTool("Shell", { target: "gsv", input: run }), answerWith("Done.")).on(/hello from here/, answerWith("Heard."));
  await gsv(["chat", "--pid", pid, "try it"]);
  const { messages } = await client.call("proc.history", { pid });
  const { output } = messages.find(({ role }) => role === "toolResult")!.content as { output: string };
  expect(output).toContain(`${pid}\nconversation=default overflow=fail`);
  expect(output).toMatch(/accepted run_id=\S+ queued=(true|false)\n/);
  expect(output).toContain(`Pid:\t${pid}\nPPid:\tinit:1000\nProfile:\ttask\n`);
  await expect.poll(async () => JSON.stringify((await client.call("proc.history", { pid: other })).messages)).toContain("hello from here");
  await client.call("proc.kill", { pid: other, archive: false });
});

test("the shell compacts a conversation, reads its archive and forks it", async () => {
  const shell = async (input: string) => {
    const done = await client.call("shell.exec", { input });
    return done.status === "running" ? "" : done.output;
  };
  provider.on("count one", answerWith("One.")).on("count two", answerWith("Two."));
  await gsv(["chat", "--pid", pid, "count one"]);
  await gsv(["chat", "--pid", pid, "count two"]);
  const compacted = await shell(`proc compact --pid ${pid} --keep-last 2 --summary 'they counted'`);
  const [, segment = ""] = /^segment_id=(\S+) archived=2 archive=\/var\/sessions\/\S+ summary_message_id=\d+\n$/.exec(compacted) ?? [];
  expect(await shell(`proc segments --pid ${pid}`)).toContain(segment);
  expect(await shell(`proc segment ${segment} --pid ${pid}`)).toMatch(/^\[\d+\] user: count one\n\[\d+\] assistant: One\.\n$/);
  expect(JSON.parse(await shell(`proc segment ${segment} --pid ${pid} --json --limit 1`))).toMatchObject({ messageCount: 2 });
  expect(await shell(`proc fork ${segment} --pid ${pid} --target old --segment-only`)).toBe(
    `conversation_id=old restored=2 segment_id=${segment} included_live_suffix=false\n`,
  );
  expect(await shell(`proc compact --pid ${pid}`)).toContain("give one of --keep-last N and --through-message-id ID");
});

test("a process is a directory below /proc for its owner and root only", async () => {
  const contextFiles = [{ name: "task.md", text: "Count the stars.\n" }];
  const { pid: child } = await client.call("proc.spawn", { profile: "task", label: "stars", assignment: { contextFiles } });
  const [bob, root] = [await enter(host, BOB), await enter(host, ROOT)];
  const read = (who: Client, path: string) => who.call("fs.read", { path });
  try {
    expect(await read(client, `/proc/${child}`)).toMatchObject({ files: ["identity", "status", "usage"], directories: ["context.d"] });
    for (const who of [client, root]) {
      const status = (await read(who, `/proc/${child}/status`)) as { content: string };
      expect(status.content).toContain("Name:\tstars");
      expect(await read(who, `/proc/${child}/context.d/task.md`)).toMatchObject({
        content: expect.stringContaining("Count the stars.") as string,
      });
      const usage = (await read(who, `/proc/${child}/usage`)) as { content: string };
      expect(usage.content).toContain('"modelCalls": 0');
      const identity = (await read(who, `/proc/${child}/identity`)) as { content: string };
      expect(identity.content).toContain('"username": "alice"');
    }
    const seen = (await bob.call("fs.read", { path: "/proc" })) as { directories: string[] };
    expect(seen.directories).toEqual(["init:1001", "self"]);
    const refusal = async (name: string) => ((await bob.call("fs.read", { path: `/proc/${name}/status` })) as { error: string }).error;
    expect((await refusal(child)).replaceAll(child, "X")).toBe((await refusal("nobody")).replaceAll("nobody", "X"));
    expect(await client.call("fs.write", { path: `/proc/${child}/status`, content: "x" })).toMatchObject({ ok: false });
  } finally {
    bob.close();
    root.close();
    await client.call("proc.kill", { pid: child, archive: false });
  }
});

function answerWith(text: string): Script {
  return { say: [{ type: "text", text }] };
}

let lastCall = 0;

function callTool(name: string, args: Record<string, unknown>, text?: string): Script {
  const said: Said[] = text === undefined ? [] : [{ type: "text", text }];
  return { say: [...said, { type: "call", id: `call-${++lastCall}`, name, args: JSON.stringify(args) }] };
}

/** An answer that hangs after the head of its text. */
function hangAfter(head: string, tail: string) {
  return { hang: true as const, script: answerWith(head + tail), after: afterText(head, tail) };
}

/** How many bytes of the stream contain the head and nothing of the tail. */
function afterText(head: string, tail: string): number {
  const pieces = Math.floor(Array.from(head).length / 16);
  const stream = recorded("chat", answerWith(head + tail));
  let at = 0;
  for (let seen = 0; seen <= pieces; seen++) at = stream.indexOf("data: ", at) + 1;
  return stream.indexOf("data: ", at);
}

function createHold(): { released: Promise<void>; release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

async function file(name: string): Promise<string> {
  const path = `/home/alice/chat-${name}.txt`;
  await client.call("fs.write", { path, content: "x\n" });
  return path;
}

async function exists(path: string): Promise<boolean> {
  return (await client.call("fs.read", { path })).ok;
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: scratch,
    LANG: "C.UTF-8",
    GSV_HOME: join(scratch, "gateway"),
    GSV_URL: host.url,
    GSV_CONFIG: join(scratch, "config.toml"),
    GSV_TOKEN: token,
  };
}

async function open(): Promise<Terminal> {
  const chat = run("chat", "--pid", pid);
  await chat.shows("type a message, or /help");
  return chat;
}

function run(...args: string[]): Terminal {
  const command = [process.execPath, join(BUILD, "gsv.js"), "-u", "alice", ...args];
  terminal = new Terminal(scratch, ++screens, environment(), command);
  return terminal;
}

function reopen(): Promise<Terminal> {
  terminal?.close();
  return open();
}

function gsv(args: string[], input = ""): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(BUILD, "gsv.js"), "-u", "alice", ...args], { env: environment() });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

function startGateway(): Promise<ChildProcess> {
  const args = [join(BUILD, "gsv.js"), "up", "--home", join(scratch, "gateway"), "--port", new URL(host.url).port];
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, HOME: scratch }, stdio: ["ignore", "pipe", "inherit"] });
  const cancelAtEnd = runAtEnd('kill -9 "$1"', String(child.pid));
  let output = "";
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("GSV is up at")) resolve(child);
    });
    child.once("exit", (code) => {
      cancelAtEnd();
      reject(new Error(`The gateway ended with ${code}`));
    });
  });
}

/** Resolves when the gateway has exited and released its port and files. */
async function killGateway(): Promise<void> {
  if (gateway.exitCode !== null || gateway.signalCode !== null) return;
  const exit = once(gateway, "exit");
  gateway.kill("SIGKILL");
  await exit;
}
