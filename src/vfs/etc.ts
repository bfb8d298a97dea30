// /etc/passwd, /etc/shadow and /etc/group: the accounts as the classic files, computed from the rows they come from. What
// root writes there is turned into the calls that make it true (account-edits.ts), each through the one door.

import { FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import { type AccountFile, accountEdits } from "./account-edits.ts";
import { type Mount, synthetic, type Who } from "./mount.ts";

export type AccountLines = { passwd(): string[]; shadow(): string[]; group(): string[] };

export function etcMounts(lines: AccountLines): Mount[] {
  return (["passwd", "shadow", "group"] as const).map((name) => {
    const textOf = () =>
      lines[name]()
        .map((line) => `${line}\n`)
        .join("");
    const write = async (who: Who, text: string) => {
      if (who.uid !== 0) throw new FileError("EACCES", `/etc/${name}`);
      await make(who, name, accountEdits(name, lines[name](), text));
    };
    return synthetic(`/etc/${name}`, {
      isVersioned: true,
      async look(who, names) {
        if (names.length > 0) throw new FileError("ENOTDIR", `/etc/${name}`);
        if (name === "shadow" && (who.uid !== 0 || who.agent !== undefined)) throw new FileError("EACCES", `/etc/${name}`);
        return textOf();
      },
      write: (who, _names, text) => write(who, text),
      append: (who, _names, text) => write(who, textOf() + text),
      mode: () => (name === "shadow" ? 0o600 : 0o644),
    });
  });
}

/** One call after the other: each is all or nothing, and where one is refused it is said what came before. */
async function make(who: Who, file: AccountFile, edits: ReturnType<typeof accountEdits>): Promise<void> {
  const done: string[] = [];
  for (const { call, args, says } of edits) {
    try {
      await who.sys(call, args);
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      const before = done.length === 0 ? "Nothing was changed" : `Done before it: ${done.join(", ")}`;
      throw new FileError("EINVAL", `/etc/${file}`, `/etc/${file}: ${call} was refused: ${error.message}. ${before}`);
    }
    done.push(says);
  }
}
