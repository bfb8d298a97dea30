/** What a stored thing counts beside its bytes, so that many empty ones are not free: its rows, names and indexes. */
export const ROW_BYTES = 512;
