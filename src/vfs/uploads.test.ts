// How many upload parts a user may have, and which of them are deleted to make room.

import { expect, it } from "vitest";
import { MemoryBlobs } from "../../test/support/memory-ports.ts";
import { PARTS_MAX, Uploads } from "./uploads.ts";

function makeUploads() {
  const blobs = new MemoryBlobs();
  const parts: { part: string; uid: number }[] = [];
  const drop = (part: string) => void parts.splice(0, parts.length, ...parts.filter((one) => one.part !== part));
  const rows = {
    set: (part: string, uid: number) => (drop(part), void parts.push({ part, uid })),
    drop,
    listByUser: (uid: number) => parts.filter((one) => one.uid === uid).map(({ part }) => part),
  };
  const uploads = new Uploads((part) => blobs.openGrowing(part), rows);
  const begin = (part: string, uid = 1000) => uploads.begin(part, uid, `/tmp/${part}`, 10, () => {});
  const sizeOf = async (part: string) => (await blobs.openGrowing(part)).size;
  return { rows, begin, sizeOf };
}

async function abandon(started: ReturnType<ReturnType<typeof makeUploads>["begin"]>): Promise<void> {
  const { grown, leave } = await started;
  await grown.write(new Uint8Array(1));
  await leave(false);
}

it("deletes the oldest abandoned part when a user starts one too many, and none of other users", async () => {
  const { rows, begin, sizeOf } = makeUploads();
  await abandon(begin("other", 1001));
  for (let at = 0; at < PARTS_MAX; at++) await abandon(begin(`p${at}`));
  expect(rows.listByUser(1000)).toHaveLength(PARTS_MAX);
  await abandon(begin("again"));
  expect(rows.listByUser(1000)).toHaveLength(PARTS_MAX);
  expect(rows.listByUser(1000)).not.toContain("p0");
  expect(await sizeOf("p0")).toBe(0);
  expect(await sizeOf("p1")).toBe(1);
  expect(rows.listByUser(1001)).toEqual(["other"]);
});

it("continues an abandoned part without deleting any other", async () => {
  const { rows, begin } = makeUploads();
  for (let at = 0; at < PARTS_MAX; at++) await abandon(begin(`p${at}`));
  expect((await begin("p0")).grown.size).toBe(1);
  expect(rows.listByUser(1000)).toHaveLength(PARTS_MAX);
});

it("refuses one more upload while all are running, even if all started at once", async () => {
  const { rows, begin } = makeUploads();
  const started = await Promise.allSettled(Array.from({ length: PARTS_MAX + 20 }, (_, at) => begin(`p${at}`)));
  expect(started.filter(({ status }) => status === "fulfilled")).toHaveLength(PARTS_MAX);
  expect(rows.listByUser(1000)).toHaveLength(PARTS_MAX);
  await expect(begin("more")).rejects.toThrow("Too many uploads at once: 100 are in progress");
  await abandon(begin("other", 1001));
});
