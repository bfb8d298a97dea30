// fs.upload: creates or replaces a file from the bytes of a body, once all have arrived and their checksum matches.

import { ChecksumError } from "./body.ts";
import type { FileMachine } from "./filesystem.ts";
import { type Failure, catchFailures } from "./outcome.ts";

export type UploadArgs = { path: string; size: number; tag?: string | undefined; mode?: number | undefined };
export type UploadResult = { ok: true; path: string; size: number; sha256: string; received: number } | Failure;

export function uploadFile({ files, body }: FileMachine, { size, tag, mode, ...args }: UploadArgs): Promise<UploadResult> {
  return catchFailures<UploadResult>(files, async () => {
    const path = files.resolve(args.path);
    const receipt = await files.receive(path, { size, tag, mode });
    let isResumable = tag !== undefined;
    try {
      const { sha256 } = await body!.receive(size, receipt);
      isResumable = false;
      await receipt.finish(sha256);
      return { ok: true, path, size, sha256, received: size - receipt.have };
    } catch (error) {
      await receipt.abandon(!isResumable || error instanceof ChecksumError);
      throw error;
    }
  });
}
