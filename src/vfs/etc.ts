// /etc/passwd, /etc/shadow and /etc/group: the accounts as the classic files, computed from the rows they come from.

import { FileError } from "../hardware/filesystem.ts";
import { type Mount, synthetic, type Who } from "./mount.ts";

export type AccountLines = { passwd(): string[]; shadow(): string[]; group(): string[] };

export function etcMounts(lines: AccountLines): Mount[] {
  const file = (name: "passwd" | "shadow" | "group", mayRead: (who: Who) => boolean) =>
    synthetic(`/etc/${name}`, {
      async look(who, names) {
        if (names.length > 0) throw new FileError("ENOTDIR", `/etc/${name}`);
        if (!mayRead(who)) throw new FileError("EACCES", `/etc/${name}`);
        return lines[name]()
          .map((line) => `${line}\n`)
          .join("");
      },
    });
  return [file("passwd", () => true), file("shadow", (who) => who.uid === 0), file("group", () => true)];
}
