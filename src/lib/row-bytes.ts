/** What a stored object counts beside its bytes (rows, names, indexes), so that many empty ones are not free. */
export const ROW_BYTES = 512;

const BLOCK_BYTES = 4096;

/** What an upload of this size counts, finished or not: disks store whole blocks. */
export function uploadStorageBytes(size: number): number {
  return ROW_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
}
