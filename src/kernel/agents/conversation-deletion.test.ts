// Which files are archives of a conversation, and which of them and of the files of its messages are deleted.

import { beforeEach, expect, it } from "vitest";
import { MemoryFiles } from "../../../test/support/memory/files.ts";
import { resetArchivePath, segmentPath } from "../../process/conversation/archive.ts";
import { deleteConversationFiles, listArchives } from "./conversation-deletion.ts";

const ROOT = "/var/sessions/alice/p";
const MEDIA = "/var/media/1000/p";

let files: MemoryFiles;
beforeEach(() => {
  files = new MemoryFiles();
});

const write = (...paths: string[]) => Promise.all(paths.map((path) => files.write(path, new Uint8Array())));
const resetPath = (conversationId: string, generation: number) => resetArchivePath(ROOT, { conversationId, generation }, "reset");

it("lists archives by the whole name of their conversation", async () => {
  const own = [segmentPath(ROOT, "a", "x"), resetPath("a", 1), resetPath("a", 12)];
  const names = ["a.gen-1.b", "a.gen-1", "a.gen-1.jsonl.gz", "b/a", ".."];
  const others = names.flatMap((name) => [segmentPath(ROOT, name, "x"), resetPath(name, 1)]);
  await write(...own, ...others, `${ROOT}/outputs/a.gen-1.jsonl.gz`, `${ROOT}/reset/notes.txt`, `${ROOT}/conversations/b/notes.txt`);
  const found = await listArchives(files, ROOT, "a");
  expect(found.own.toSorted()).toEqual(own.toSorted());
  expect(found.others.toSorted()).toEqual(others.toSorted());
  expect(await listArchives(files, "/var/sessions/alice/new", "a")).toEqual({ own: [], others: [] });
});

it("deletes the archives of the conversation, and files only in the folders of its process", async () => {
  const [mine, others] = [
    [segmentPath(ROOT, "a", "x"), resetPath("a", 1)],
    [segmentPath(ROOT, "b", "x"), resetPath("a.gen-1.b", 1)],
  ];
  const [media, output, foreign] = [`${MEDIA}/1.png`, `${ROOT}/outputs/1.txt`, "/var/media/1000/q/1.png"];
  await write(...mine, ...others, media, output, foreign);
  const paths = [media, output, foreign, `${MEDIA}/../q/1.png`, `${MEDIA}/gone.png`];
  await deleteConversationFiles(files, { archiveRoot: ROOT, mediaFolder: MEDIA }, "a", paths);
  for (const path of [...mine, media, output]) await expect(files.stat(path), path).rejects.toThrow("ENOENT");
  for (const path of [...others, foreign]) expect(await files.stat(path), path).toMatchObject({ kind: "file" });
});
