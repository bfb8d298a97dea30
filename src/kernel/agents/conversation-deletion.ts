// The files of conversations: their archives, wherever a reset, a rewind or a compaction put them, and what only the messages of one
// refer to. Which these are only the process knows (process/conversation/delete.ts).

import { FileError, type FileSystem } from "../../hardware/filesystem.ts";
import { archiveNameOf, findNameOfResetArchive } from "../../process/conversation/archive.ts";

/** Of one conversation, and of all others of the process. */
export type Archives = { own: string[]; others: string[] };

export async function listArchives(files: FileSystem, archiveRoot: string, conversationId: string): Promise<Archives> {
  const own: string[] = [];
  const others: string[] = [];
  const name = archiveNameOf(conversationId);
  for (const folder of await listIfThere(files, `${archiveRoot}/conversations`)) {
    const found = await listIfThere(files, folder);
    if (folder.endsWith(`/${name}`)) own.push(...found);
    else others.push(...found.filter((path) => path.endsWith(".jsonl.gz")));
  }
  // Of the whole process there is a folder for each time.
  for (const folder of await listIfThere(files, archiveRoot)) {
    if (folder.endsWith("/conversations") || folder.endsWith("/outputs")) continue;
    for (const path of await listIfThere(files, folder)) {
      const of = findNameOfResetArchive(path.slice(folder.length + 1));
      if (of !== undefined) (of === name ? own : others).push(path);
    }
  }
  return { own, others };
}

/** `paths` come from a process, so only those inside its own folders count. */
export async function deleteConversationFiles(
  files: FileSystem,
  { archiveRoot, mediaFolder }: { archiveRoot: string; mediaFolder: string },
  conversationId: string,
  paths: readonly string[],
): Promise<void> {
  const folders = [`${archiveRoot}/outputs/`, `${mediaFolder}/`];
  const isOwn = (path: string) => path === files.resolve(path) && folders.some((folder) => path.startsWith(folder));
  const { own } = await listArchives(files, archiveRoot, conversationId);
  for (const path of [...paths.filter(isOwn), ...own]) await removeIfThere(files, path);
  await removeIfThere(files, `${archiveRoot}/conversations/${archiveNameOf(conversationId)}`);
}

async function removeIfThere(files: FileSystem, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function listIfThere(files: FileSystem, folder: string): Promise<string[]> {
  try {
    return (await files.list(folder)).map(({ name }) => `${folder}/${name}`);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof FileError && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
