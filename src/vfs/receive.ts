// Receives a file in pieces for a mount that writes whole files: buffers the pieces until the file is complete.

import { type IncomingFile, FileError, type FileReceiver } from "../hardware/filesystem.ts";
import { concat } from "../lib/bytes.ts";

const BUFFER_BYTES_MAX = 32 * 1024 * 1024;

export function receiveInMemory(path: string, { size }: IncomingFile, write: (content: Uint8Array) => Promise<void>): FileReceiver {
  if (size > BUFFER_BYTES_MAX) throw new FileError("EFBIG", path, "A file copied here may have at most 32 MiB");
  const chunks: Uint8Array[] = [];
  return {
    have: 0,
    read: async () => new Uint8Array(),
    write: async (chunk) => void chunks.push(chunk),
    finish: () => write(concat(chunks)),
    abandon: async () => void chunks.splice(0),
  };
}
