// A file that comes in pieces to where files are written whole: held until all of it is there.

import { type Coming, FileError, type Receipt } from "../hardware/filesystem.ts";
import { concat } from "../lib/bytes.ts";

const HELD_BYTES_MAX = 32 * 1024 * 1024;

export function held(path: string, { size }: Coming, write: (content: Uint8Array) => Promise<void>): Receipt {
  if (size > HELD_BYTES_MAX) throw new FileError("EFBIG", path, "At most 32 MiB can be copied here at once");
  const chunks: Uint8Array[] = [];
  return {
    have: 0,
    read: async () => new Uint8Array(),
    write: async (chunk) => void chunks.push(chunk),
    finish: () => write(concat(chunks)),
    leave: async () => void chunks.splice(0),
  };
}
