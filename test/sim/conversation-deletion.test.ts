// Deleted conversations: nothing of them stays, whatever interrupts the deletion, and nothing goes that other conversations need.

import { beforeEach, expect, it } from "vitest";
import type { Data } from "./requests.ts";
import { INIT, SECOND_MS } from "./scheduling.ts";
import { TimedWorld } from "./timed-world.ts";

type Listing = { ok: boolean; files?: string[]; directories?: string[] };

const ROOT = `/var/sessions/alice/${INIT}`;
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let world: TimedWorld;

beforeEach(async () => {
  world = await TimedWorld.make();
});

/** With a picture. */
async function send(conversationId: string, message: string): Promise<void> {
  const media = [{ type: "image", mimeType: "image/png", data: DOT }];
  await world.call("proc.send", { pid: INIT, conversationId, message, media });
  await world.pass(SECOND_MS);
}

const ask = <T = Data>(name: string, args: Data) => world.call<T>(`proc.conversation.${name}`, { pid: INIT, ...args });
const open = (conversationId: string) => ask("open", { conversationId });
const remove = (conversationId: string) => ask("delete", { conversationId });

async function list(path: string): Promise<string[]> {
  const { files = [], directories = [] } = await world.call<Listing>("fs.read", { path });
  return [...files, ...directories];
}

const listPictures = () => list(`/var/media/1000/${INIT}`);

/** The archives of one reset of the whole process. */
async function listResetArchives(): Promise<string[]> {
  const [folder] = (await list(ROOT)).filter((name) => name !== "conversations");
  return list(`${ROOT}/${folder}`);
}

const CALLS = ["endConversation", "listUnreferenced", "deleteConversation"];

it.each(CALLS.flatMap((name) => ["before", "after"].map((when) => [when, name])))(
  "leaves nothing if the gateway stops %s the process is asked to %s, and it is deleted again",
  async (when, name) => {
    await open("aside");
    await world.call("proc.settings.set", { pid: INIT, conversationId: "aside", prompt: "Be discreet.", posture: "ask" });
    await send("aside", "A picture.");
    await send("aside", "this waits");
    await send("aside", "It is queued.");
    expect(await listPictures()).toHaveLength(3);
    let isThere = false;
    world.onProcessCall = async (pid, called, args) => {
      if (called !== name) return;
      if (when === "after") await world.processes.call(pid, called, args);
      isThere = true;
      await new Promise(() => {});
    };
    void remove("aside").catch(() => {});
    await world.passUntil(() => isThere, name);
    world.onProcessCall = () => {};
    await world.restart();
    if ((await ask("get", { conversationId: "aside" })).conversation !== null) await remove("aside");
    expect(await listPictures()).toEqual([]);
    await open("aside");
    const { settings } = await world.call<{ settings: Data }>("proc.settings.get", { pid: INIT, conversationId: "aside" });
    expect(settings).toMatchObject({ prompt: null, posture: null });
    expect(await world.call("proc.queue.list", { pid: INIT })).toMatchObject({ messages: [] });
  },
);

it("keeps the files that another conversation has only in the archive of a reset", async () => {
  await send("aside", "A picture.");
  await ask("fork", { conversationId: "aside", throughMessageId: 1, targetConversationId: "kept" });
  await ask("reset", { conversationId: "kept" });
  await send("aside", "Another picture.");
  expect(await listPictures()).toHaveLength(2);
  await remove("aside");
  expect(await listPictures()).toHaveLength(1);
  await remove("kept");
  expect(await listPictures()).toEqual([]);
});

it("keeps the files of a conversation that is emptied meanwhile", async () => {
  await send("aside", "A picture.");
  await ask("fork", { conversationId: "aside", throughMessageId: 1, targetConversationId: "kept" });
  world.onProcessCall = async (pid, name) => {
    if (name === "endConversation") await world.processes.call(pid, "resetConversation", { conversationId: "kept" });
  };
  await remove("aside");
  expect(await listPictures()).toHaveLength(1);
});

it("deletes nothing while an archive of another conversation cannot be read", async () => {
  await send("aside", "A picture.");
  await ask("fork", { conversationId: "aside", throughMessageId: 1, targetConversationId: "kept" });
  const { archivedTo } = await ask<{ archivedTo: string }>("reset", { conversationId: "kept" });
  await world.call("fs.write", { path: archivedTo, content: "This is no archive." });
  await expect(remove("aside")).rejects.toThrow(/^503 .*kept/);
  expect(await listPictures()).toHaveLength(1);
  expect(await ask("get", { conversationId: "aside" })).toMatchObject({ conversation: { messageCount: 2 } });
  await world.call("fs.delete", { path: archivedTo });
  await remove("aside");
  expect(await listPictures()).toEqual([]);
});

it("deletes no archive of a conversation whose name begins like that of an archive", async () => {
  for (const name of ["a", "a.gen-1.b", "a.gen-1.jsonl.gz"]) await send(name, "Hello.");
  await world.call("proc.reset", { pid: INIT });
  expect(await listResetArchives()).toEqual(["a.gen-1.b.gen-1.jsonl.gz", "a.gen-1.jsonl.gz", "a.gen-1.jsonl.gz.gen-1.jsonl.gz"]);
  await remove("a");
  expect(await listResetArchives()).toEqual(["a.gen-1.b.gen-1.jsonl.gz", "a.gen-1.jsonl.gz.gen-1.jsonl.gz"]);
});
