// df: shows the caller's quota as the only file system.

import { defineCommandFile, CommandError, parseFlags } from "../command.ts";
import { humanSize } from "../human-size.ts";

const HEAD = ["Filesystem", "Used", "Available", "Use%", "Mounted on"];

export default defineCommandFile({
  name: "df",
  usage: "[-h] [path...]",
  doc: "Show how much you store and how much you may store. The gateway's tree is one file system, and its size is your quota; a dash means no limit. Sizes are in blocks of 1024 bytes; -h prints them with units.",
  async run({ link, resolve }, args) {
    const { flags, rest } = parseFlags(args, { "human-readable": "h", kibibytes: "k", portability: "P" });
    for (const path of rest) await link.stat(resolve(path)).catch(() => failMissing(path));
    const text = new TextDecoder().decode(await link.read("/proc/self/quota", { start: 0, end: 1024 }));
    const [used = 0, limit = Infinity] = (/^(\d+) (\d+|unlimited)/.exec(text)?.slice(1) ?? []).map(
      (word) => Number(word) || (word === "0" ? 0 : Infinity),
    );
    const isHuman = flags.has("h");
    const formatSize = (bytes: number) => (bytes === Infinity ? "-" : isHuman ? humanSize(bytes) : String(Math.ceil(bytes / 1024)));
    const percent = limit === Infinity ? "-" : `${limit === 0 ? 100 : Math.ceil((100 * used) / limit)}%`;
    const rows = [
      [HEAD[0]!, isHuman ? "Size" : "1K-blocks", ...HEAD.slice(1)],
      ["gsv", formatSize(limit), formatSize(used), formatSize(Math.max(0, limit - used)), percent, "/"],
    ];
    return rows.map((cells) => `${formatRow(cells, rows)}\n`).join("");
  },
});

function failMissing(path: string): never {
  throw new CommandError(`${path}: No such file or directory`);
}

/** Aligns names to the left and numbers to the right. */
function formatRow(cells: readonly string[], rows: readonly (readonly string[])[]): string {
  const last = cells.length - 1;
  return cells
    .map((cell, at) => {
      const width = Math.max(...rows.map((row) => row[at]!.length));
      return at === 0 ? cell.padEnd(width) : at === last ? cell : cell.padStart(width);
    })
    .join(" ");
}
