// The files of a conversation: its archives, wherever a reset or a compaction put them, and what only its messages refer to.

import { FileError } from "../../hardware/filesystem.ts";
import { archiveNameOf } from "../../process/conversation/archive.ts";
import type { Vfs } from "../../vfs/vfs.ts";

export async function listConversationArchives(files: Vfs, archiveRoot: string, conversationId: string): Promise<string[]> {
  const name = archiveNameOf(conversationId);
  const own = await listIfThere(files, `${archiveRoot}/conversations/${name}`);
  // Of the whole process there is a folder for each time.
  for (const folder of await listIfThere(files, archiveRoot)) {
    if (folder.endsWith("/conversations") || folder.endsWith("/outputs")) continue;
    own.push(...(await listIfThere(files, folder)).filter((path) => path.startsWith(`${folder}/${name}.gen-`)));
  }
  return own;
}

/** `paths` come from a process, so only those inside its own folders count. */
export async function deleteConversationFiles(
  files: Vfs,
  { archiveRoot, mediaFolder }: { archiveRoot: string; mediaFolder: string },
  conversationId: string,
  paths: readonly string[],
): Promise<void> {
  const folders = [`${archiveRoot}/outputs/`, `${mediaFolder}/`];
  const isOwn = (path: string) => path === files.resolve(path) && folders.some((folder) => path.startsWith(folder));
  const archives = await listConversationArchives(files, archiveRoot, conversationId);
  for (const path of [...paths.filter(isOwn), ...archives]) await removeIfThere(files, path);
  await removeIfThere(files, `${archiveRoot}/conversations/${archiveNameOf(conversationId)}`);
}

async function removeIfThere(files: Vfs, path: string): Promise<void> {
  try {
    await files.remove(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function listIfThere(files: Vfs, folder: string): Promise<string[]> {
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
