// What a process finds out before one of its conversations is deleted: which files nobody else needs, without holding up others.

import { beforeEach, describe, expect, it, vi } from "vitest";
import { World } from "../../../test/support/process-world.ts";
import type { StoredMedia } from "../rows/history.ts";

let world: World;
beforeEach(() => {
  world = new World();
  for (const conversationId of ["aside", "other"]) world.process.conversation.open({ conversationId });
});

const picture = (name: string): StoredMedia[] => [{ type: "image", mimeType: "image/png", key: `var/media/1000/p/${name}.png` }];
const fileOf = (name: string) => `/var/media/1000/p/${name}.png`;

function append(conversationId: string, text: string, media?: StoredMedia[]): void {
  const message = { role: "user" as const, text, ...(media === undefined ? {} : { media }) };
  world.process.history.append(conversationId, null, message, 1);
}

const end = (archives: readonly string[] = []) => world.process.conversation.endAndListFiles({ conversationId: "aside", archives });

/** How many turns of the event loop others have meanwhile. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work.finally(() => (isDone = true));
  return turns;
}

it("reads long histories in steps, between which others work, and once however many files there are", async () => {
  for (let at = 0; at < 2_000; at++) {
    append("aside", "", picture(`p${at}`));
    append("other", `Number ${at}`);
  }
  const queries = vi.spyOn(world.sql, "all");
  const single = vi.spyOn(world.sql, "get");
  const ending = end();
  expect(await countTurns(ending)).toBeGreaterThan(50);
  expect(await ending).toHaveLength(2_000);
  expect(queries.mock.calls.length + single.mock.calls.length).toBeLessThan(200);
});

it("keeps the files that other conversations mention, in messages that are queued and in those that come meanwhile too", async () => {
  for (const name of ["one", "one.png", "two", "three", "four", "five"]) append("aside", "", picture(name));
  append("other", "See (/var/media/1000/p/one.png), please.");
  for (let at = 0; at < 500; at++) append("other", "And so on.");
  world.process.conversation.open({ conversationId: "busy" });
  world.say("Look.", { conversationId: "busy", runId: "active" });
  world.say('{"path":"/var/media/1000/p/two.png"}', { conversationId: "busy" });
  const ending = end();
  append("other", "", picture("three"));
  expect(await ending).toEqual(["one.png", "four", "five"].map(fileOf));
});

it("lists the files of queued messages again until the conversation is deleted, and begins no run meanwhile", async () => {
  world.process.send({ conversationId: "aside", message: { role: "user", text: "a", media: picture("active") }, reason: "proc.send" });
  world.process.send({ conversationId: "aside", message: { role: "user", text: "b", media: picture("queued") }, reason: "proc.send" });
  expect(await end()).toEqual(["active", "queued"].map(fileOf));
  world.die();
  world.begin();
  world.process.onWake();
  world.say("Are you there?");
  await expect.poll(() => world.ends().some(([, , text]) => text?.includes("Are you there?"))).toBe(true);
  expect(world.process.activeRun).toBeUndefined();
  expect(await end()).toEqual(["active", "queued"].map(fileOf));
  world.process.conversation.delete({ conversationId: "aside", receivedSeq: 0 });
  expect(world.process.queue.list()).toEqual([]);
  await expect.poll(() => world.ends().filter(([, status]) => status === "aborted")).toHaveLength(2);
});

describe("the archives", () => {
  const picturesIn = async (conversationId: string, ...names: string[]) => {
    for (const name of names) append(conversationId, "", picture(name));
    return (await world.process.conversation.reset({ conversationId })).archivedTo!;
  };
  const damage = (path: string) => void world.archives.set(path, new Uint8Array([1, 2, 3]));
  const listUnreferenced = (...archives: string[]) =>
    world.process.conversation.listUnreferenced({ paths: ["one", "two"].map(fileOf), archives });

  it("of the conversation have files too, unless they are gone or damaged", async () => {
    const damaged = await picturesIn("aside", "lost");
    damage(damaged);
    const archive = await picturesIn("aside", "archived");
    expect(await end([damaged, "/gone", archive])).toEqual([fileOf("archived")]);
  });

  it("of other conversations keep files, and one that cannot be read keeps all", async () => {
    const [one, two] = [await picturesIn("other", "one", "three"), await picturesIn("other", "two")];
    expect(await listUnreferenced(one, "/gone")).toEqual([fileOf("two")]);
    expect(await listUnreferenced(one, two)).toEqual([]);
    damage(two);
    await expect(listUnreferenced(one, two)).rejects.toThrow(expect.objectContaining({ code: 503, message: expect.stringContaining(two) }));
  });
});
