// Formats and parses permission bits.

import { CommandError } from "./command.ts";

/** Formats a mode like `drwxr-xr-t`. */
export function formatMode(kind: string, mode: number): string {
  const letters = [6, 3, 0]
    .map((shift) => "rwx".replace(/./g, (letter, at: number) => ((mode >> shift) & (4 >> at) ? letter : "-")))
    .join("");
  const sticky = (mode & 0o1000) === 0 ? letters : letters.slice(0, -1) + (mode & 1 ? "t" : "T");
  return (kind === "directory" ? "d" : "-") + sticky;
}

/** Applies `text` to the mode `present`: octal, or u+x,go-w,a=r,g=u. */
export function applyMode(text: string, present: number, isDirectory: boolean): number {
  if (/^[0-7]{1,4}$/.test(text)) return Number.parseInt(text, 8);
  return text.split(",").reduce((mode, clause) => applyClause(clause, mode, isDirectory), present);
}

function applyClause(clause: string, mode: number, isDirectory: boolean): number {
  const [, who = "", verb = "", letters = ""] = /^([ugoa]*)([-+=])([rwxXt]*|[ugo])$/.exec(clause) ?? failInvalid(clause);
  const shifts = who === "" || who.includes("a") ? [6, 3, 0] : who.split("").map((letter) => ({ u: 6, g: 3, o: 0 })[letter] ?? 0);
  const isExecutable = isDirectory || (mode & 0o111) !== 0;
  const copiedBits = { u: mode >> 6, g: mode >> 3, o: mode }[letters];
  const bits =
    copiedBits !== undefined
      ? copiedBits & 7
      : (letters.includes("r") ? 4 : 0) |
        (letters.includes("w") ? 2 : 0) |
        (letters.includes("x") || (letters.includes("X") && isExecutable) ? 1 : 0);
  let next = mode;
  for (const shift of shifts) {
    if (verb === "=") next &= ~(7 << shift);
    next = verb === "-" ? next & ~(bits << shift) : next | (bits << shift);
  }
  if (letters.includes("t")) next = verb === "-" ? next & ~0o1000 : next | 0o1000;
  return next;
}

function failInvalid(clause: string): never {
  throw new CommandError(`invalid mode: ${clause}. Write it like 640 or u+x,go-w`);
}
