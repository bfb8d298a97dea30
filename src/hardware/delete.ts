// fs.delete: deletes a file, or a directory with everything below it.

import type { FileMachine } from "./filesystem.ts";
import { type Failure, catchFailures } from "./outcome.ts";

export type DeleteResult = { ok: true; path: string } | Failure;

export function deleteFile({ files }: FileMachine, args: { path: string }): Promise<DeleteResult> {
  return catchFailures<DeleteResult>(files, async () => {
    const path = files.resolve(args.path);
    await files.stat(path);
    await files.remove(path);
    return { ok: true, path };
  });
}
