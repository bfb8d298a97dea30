// /etc/passwd, /etc/shadow and /etc/group: the accounts as the classic files, computed from rows. What root writes there becomes
// calls (account-edits.ts), and each goes through the gate.

import { FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import { type AccountFile, computeAccountEdits } from "./account-edits.ts";
import { type Mount, makeSyntheticMount, type Who } from "./mount.ts";

export type AccountLines = { passwd(): string[]; shadow(): string[]; group(): string[] };

export function makeEtcMounts(lines: AccountLines): Mount[] {
  return (["passwd", "shadow", "group"] as const).map((name) => {
    const readText = () =>
      lines[name]()
        .map((line) => `${line}\n`)
        .join("");
    const write = async (who: Who, text: string) => {
      if (who.uid !== 0) throw new FileError("EACCES", `/etc/${name}`);
      await applyEdits(who, name, computeAccountEdits(name, lines[name](), text));
    };
    return makeSyntheticMount(`/etc/${name}`, {
      isVersioned: true,
      async lookUp(who, names) {
        if (names.length > 0) throw new FileError("ENOTDIR", `/etc/${name}`);
        if (name === "shadow" && (who.uid !== 0 || who.agent !== undefined)) throw new FileError("EACCES", `/etc/${name}`);
        return readText();
      },
      write: (who, _names, text) => write(who, text),
      append: (who, _names, text) => write(who, readText() + text),
      mode: () => (name === "shadow" ? 0o600 : 0o644),
    });
  });
}

/** Makes one call after the other. Each is all or nothing; if one is refused, the error lists what was done before it. */
async function applyEdits(who: Who, file: AccountFile, edits: ReturnType<typeof computeAccountEdits>): Promise<void> {
  const done: string[] = [];
  for (const { call, args, says } of edits) {
    try {
      await who.runSyscall(call, args);
    } catch (error) {
      if (!(error instanceof SysError)) throw error;
      const before = done.length === 0 ? "Nothing was changed" : `Already done: ${done.join(", ")}`;
      throw new FileError("EINVAL", `/etc/${file}`, `/etc/${file}: ${call} was refused: ${error.message}. ${before}`);
    }
    done.push(says);
  }
}
