// A number of bytes as people read it: 512 B, 3.4 MiB, 10 GiB.

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatByteSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  // Never rounds up: 9.999 of 10 is not 10.
  return `${Math.floor(value * 100) / 100} ${UNITS[unit]}`;
}
