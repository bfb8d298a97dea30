// fs.write: creates or replaces a whole file.

import type { FileMachine } from "./filesystem.ts";
import { type Failure, catchFailures } from "./outcome.ts";

export type WriteResult = { ok: true; path: string; size: number } | Failure;

export function writeFile({ files }: FileMachine, args: { path: string; content: string }): Promise<WriteResult> {
  return catchFailures<WriteResult>(files, async () => {
    const path = files.resolve(args.path);
    const bytes = new TextEncoder().encode(args.content);
    await files.write(path, bytes);
    return { ok: true, path, size: bytes.length };
  });
}
