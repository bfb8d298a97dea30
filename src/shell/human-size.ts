/** A size as `ls -h` and `df -h` print it: rounded up, with one decimal below ten. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return String(bytes);
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), 4);
  const value = bytes / 1024 ** power;
  return `${value < 10 ? (Math.ceil(value * 10) / 10).toFixed(1) : Math.ceil(value)}${"BKMGT"[power]}`;
}
