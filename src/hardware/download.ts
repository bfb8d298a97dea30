// fs.download: sends a file's bytes unchanged to the caller.

import type { OutgoingBody } from "./body.ts";
import { FileError, type FileMachine } from "./filesystem.ts";
import { type Failure, OpError, catchFailures } from "./outcome.ts";

export type DownloadResult = { ok: true; path: string; size: number; sha256: string; sent: number } | Failure;

/** Files that are generated on read report a size of 0. */
const GENERATED_BYTES_MAX = 4 * 1024 * 1024;

export function downloadFile({ files, body }: FileMachine, args: { path: string }): Promise<DownloadResult> {
  return catchFailures<DownloadResult>(files, async () => {
    const path = files.resolve(args.path);
    const { kind, mode, ...stat } = await files.stat(path);
    if (kind === "directory") throw new FileError("EISDIR", path);
    if (kind === "other") throw new OpError(`Neither a file nor a directory: ${path}`);
    const pinned = stat.version === "" ? {} : { ifVersion: stat.version };
    const generated = stat.size === 0 || stat.version === "" ? await files.read(path, { start: 0, end: GENERATED_BYTES_MAX }) : null;
    if (generated !== null && generated.length === GENERATED_BYTES_MAX)
      throw new OpError(`Too large for a file that is generated when read: ${path}`);
    const opened = generated === null ? await files.open?.(path, stat.version) : undefined;
    const content: OutgoingBody = {
      size: generated?.length ?? stat.size,
      version: generated === null ? stat.version : "",
      mode: mode & 0o777,
      read: async (start, end) =>
        generated?.subarray(start, end) ?? opened?.read(start, end) ?? files.read(path, { start, end, ...pinned }),
    };
    try {
      const { sha256, from } = await body!.send(content);
      return { ok: true, path, size: content.size, sha256, sent: content.size - from };
    } finally {
      await opened?.close();
    }
  });
}
