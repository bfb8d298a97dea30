/** What a stored thing counts beside its bytes, so that many empty ones are not free: its rows, names and indexes. */
export const ROW_BYTES = 512;

const BLOCK_BYTES = 4096;

/** What an upload counts that has so many bytes, or is to have them: disks keep whole blocks. */
export function partBytes(size: number): number {
  return ROW_BYTES + Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
}
