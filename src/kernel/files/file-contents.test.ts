// Orphaned blobs are deleted; blobs that are being written or have just got a row are not.

import { expect, it } from "vitest";
import { MemoryBlobs } from "../../../test/support/memory/blobs.ts";
import { FileContents } from "./file-contents.ts";

const onDisk = () => Promise.resolve();
const bytes = (text: string) => new TextEncoder().encode(text);

it("sweeps only blobs that no row refers to", async () => {
  const blobs = new MemoryBlobs();
  const rows = new Set<string>();
  const contents = new FileContents(blobs, (key) => rows.has(key), onDisk);
  for (let at = 0; at < 1200; at++) await contents.put(`k${String(at).padStart(4, "0")}`, bytes(String(at)), async () => {});
  rows.add("k0007");
  expect(await contents.sweep()).toBe(1199);
  expect(await blobs.list(null, 10)).toEqual(["k0007"]);
});

it("does not sweep a blob between its put and the commit of its row", async () => {
  const blobs = new MemoryBlobs();
  const rows = new Set<string>();
  const contents = new FileContents(blobs, (key) => rows.has(key), onDisk);
  await contents.put("key", bytes("x"), async () => {
    expect(await contents.sweep()).toBe(0);
    rows.add("key");
  });
  expect(await contents.sweep()).toBe(0);
  expect(await contents.get("key")).toEqual(bytes("x"));
});

it("waits until the deletion of the row is durable, and keeps the blob if the row comes back", async () => {
  const rows = new Set<string>();
  let durable = onDisk;
  const contents = new FileContents(
    new MemoryBlobs(),
    (key) => rows.has(key),
    () => durable(),
  );
  await contents.put("key", bytes("x"), async () => {});
  durable = async () => void rows.add("key");
  expect(await contents.sweep()).toBe(0);
  durable = () => Promise.reject(new Error("the disk is full"));
  rows.clear();
  await expect(contents.sweep()).rejects.toThrow("full");
  expect(await contents.get("key")).toEqual(bytes("x"));
});

it("waits for a running deletion before it puts the same content again", async () => {
  const blobs = new MemoryBlobs();
  let release = () => {};
  const slow = blobs.delete.bind(blobs);
  blobs.delete = async (key) => {
    await new Promise<void>((resolve) => (release = resolve));
    await slow(key);
  };
  const rows = new Set<string>();
  const contents = new FileContents(blobs, (key) => rows.has(key), onDisk);
  await contents.put("key", bytes("x"), async () => {});
  const sweeping = contents.sweep();
  await new Promise((resolve) => setImmediate(resolve));
  const putting = contents.put("key", bytes("x"), async () => void rows.add("key"));
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await Promise.all([sweeping, putting]);
  expect(await contents.get("key")).toEqual(bytes("x"));
});

it("deletes a blob immediately if its row was refused, unless another row refers to it", async () => {
  const blobs = new MemoryBlobs();
  const rows = new Set<string>();
  const contents = new FileContents(blobs, (key) => rows.has(key), onDisk);
  const refused = () => Promise.reject(new Error("Quota exceeded"));
  await expect(contents.put("key", bytes("x"), refused)).rejects.toThrow("Quota exceeded");
  expect(await blobs.list(null, 10)).toEqual([]);
  await contents.put("key", bytes("x"), async () => void rows.add("key"));
  await expect(contents.put("key", bytes("x"), refused)).rejects.toThrow("Quota exceeded");
  expect(await blobs.list(null, 10)).toEqual(["key"]);
  rows.clear();
  await contents.deleteUnreferenced(["key", "absent"]);
  expect(await blobs.list(null, 10)).toEqual([]);
});
