// cksum.

import { defineCommandFile } from "../command.ts";

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc >>> 0;
});

export default defineCommandFile({
  name: "cksum",
  usage: "[path...]",
  doc: "Print the CRC and length of files, or of standard input.",
  async run({ read }, args) {
    const lines: string[] = [];
    for (const path of args.length === 0 ? ["-"] : args) {
      const bytes = await read(path);
      lines.push(`${crcOf(bytes)} ${bytes.length}${args.length === 0 ? "" : ` ${path}`}\n`);
    }
    return lines.join("");
  },
});

function crcOf(bytes: Uint8Array): number {
  let crc = 0;
  const add = (byte: number) => (crc = ((crc << 8) ^ TABLE[((crc >>> 24) ^ byte) & 0xff]!) >>> 0);
  for (const byte of bytes) add(byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) add(length & 0xff);
  return ~crc >>> 0;
}
