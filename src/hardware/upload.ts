// fs.upload: a whole file from the bytes of a body, made or replaced once all of them are there and right.

import { ChecksumError } from "./body.ts";
import type { FileMachine } from "./filesystem.ts";
import { type Failure, outcome } from "./outcome.ts";

export type UploadArgs = { path: string; size: number; tag?: string | undefined; mode?: number | undefined };
export type UploadResult = { ok: true; path: string; size: number; sha256: string; received: number } | Failure;

export function uploadFile({ files, body }: FileMachine, { size, tag, mode, ...args }: UploadArgs): Promise<UploadResult> {
  return outcome<UploadResult>(files, async () => {
    const path = files.resolve(args.path);
    const receipt = await files.receive(path, { size, tag, mode });
    let isOfUse = tag !== undefined;
    try {
      const { sha256 } = await body!.receive(size, receipt);
      isOfUse = false;
      await receipt.finish(sha256);
      return { ok: true, path, size, sha256, received: size - receipt.have };
    } catch (error) {
      await receipt.leave(!isOfUse || error instanceof ChecksumError);
      throw error;
    }
  });
}
