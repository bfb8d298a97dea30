// How many parts of uploads a user may have, and which of them make room.

import { expect, it } from "vitest";
import { MemoryBlobs } from "../../test/support/memory-ports.ts";
import { PARTS_MAX, Uploads } from "./uploads.ts";

function world() {
  const blobs = new MemoryBlobs();
  const parts: { part: string; uid: number }[] = [];
  const drop = (part: string) => void parts.splice(0, parts.length, ...parts.filter((one) => one.part !== part));
  const rows = {
    set: (part: string, uid: number) => (drop(part), void parts.push({ part, uid })),
    drop,
    of: (uid: number) => parts.filter((one) => one.uid === uid).map(({ part }) => part),
  };
  const uploads = new Uploads((part) => blobs.grow(part), rows);
  const begin = (part: string, uid = 1000) => uploads.begin(part, uid, `/tmp/${part}`, 10, () => {});
  const sizeOf = async (part: string) => (await blobs.grow(part)).size;
  return { rows, begin, sizeOf };
}

async function abandon(begun: ReturnType<ReturnType<typeof world>["begin"]>): Promise<void> {
  const { grown, leave } = await begun;
  await grown.write(new Uint8Array(1));
  await leave(false);
}

it("deletes what was left longest where a user begins one too many, and nothing of others", async () => {
  const { rows, begin, sizeOf } = world();
  await abandon(begin("other", 1001));
  for (let at = 0; at < PARTS_MAX; at++) await abandon(begin(`p${at}`));
  expect(rows.of(1000)).toHaveLength(PARTS_MAX);
  await abandon(begin("again"));
  expect(rows.of(1000)).toHaveLength(PARTS_MAX);
  expect(rows.of(1000)).not.toContain("p0");
  expect(await sizeOf("p0")).toBe(0);
  expect(await sizeOf("p1")).toBe(1);
  expect(rows.of(1001)).toEqual(["other"]);
});

it("takes a further try of what was left without deleting anything", async () => {
  const { rows, begin } = world();
  for (let at = 0; at < PARTS_MAX; at++) await abandon(begin(`p${at}`));
  expect((await begin("p0")).grown.size).toBe(1);
  expect(rows.of(1000)).toHaveLength(PARTS_MAX);
});

it("refuses one more where all are under way, also where all began at once", async () => {
  const { rows, begin } = world();
  const begun = await Promise.allSettled(Array.from({ length: PARTS_MAX + 20 }, (_, at) => begin(`p${at}`)));
  expect(begun.filter(({ status }) => status === "fulfilled")).toHaveLength(PARTS_MAX);
  expect(rows.of(1000)).toHaveLength(PARTS_MAX);
  await expect(begin("more")).rejects.toThrow("Too many uploads at once: 100 are under way");
  await abandon(begin("other", 1001));
});
