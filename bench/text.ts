// Text to write, read and search: lines of 64 characters, different for each number.

const LINE = 64;
const FILLER = "the quick brown fox jumps over the lazy dog and runs on ";

export function textOf(number: number, bytes: number): string {
  const lines: string[] = [];
  for (let line = 0; line * LINE < bytes; line++) lines.push(`${number} ${line} ${FILLER}${FILLER}`.slice(0, LINE - 1));
  return `${lines.join("\n").slice(0, bytes - 1)}\n`;
}

/** Runs `work` for the numbers from `from` up to `to`, `atOnce` of them at a time. */
export async function inTurns(from: number, to: number, atOnce: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = from;
  const one = async () => {
    while (next < to) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** A script that reads the file `f` of its home so often, one read after the other. */
export function readsInScript(count: number): string {
  return `let size = 0; for (let at = 0; at < ${count}; at++) size += (await fs.read({ path: "~/f" })).size; return size;`;
}
