// mktemp.

import { FileError } from "../../hardware/filesystem.ts";
import { defineCommandFile, CommandError, parseFlags } from "../command.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export default defineCommandFile({
  name: "mktemp",
  usage: "[-dqtu] [-p directory] [template]",
  doc: "Create an empty file with a new name and print the name. -d creates a directory, -p sets where, -u only prints a name. The template ends in at least three X, which are replaced; the default is /tmp/tmp.XXXXXXXXXX.",
  async run({ link, resolve, env }, args) {
    const at = args.findIndex((arg) => arg === "-p");
    const directory = at === -1 ? args.find((arg) => arg.startsWith("--tmpdir="))?.slice("--tmpdir=".length) : args[at + 1];
    const others = args.filter((arg, index) => !(at !== -1 && (index === at || index === at + 1)) && !arg.startsWith("--tmpdir"));
    const { flags, rest } = parseFlags(others, { directory: "d", quiet: "q", "dry-run": "u", t: "t" });
    const [template = "tmp.XXXXXXXXXX", ...more] = rest;
    if (more.length > 0) throw new CommandError("too many templates");
    const usesDirectory = rest.length === 0 || directory !== undefined || flags.has("t");
    const folder = usesDirectory ? `${(directory ?? env.get("TMPDIR")) || "/tmp"}/` : "";
    const [, before, blanks, after] = /^(.*?)(X{3,})([^X/]*)$/.exec(template) ?? [];
    if (blanks === undefined) throw new CommandError(`too few X's in template '${template}'`);
    for (let attempt = 0; attempt < 100; attempt++) {
      const random = Array.from(crypto.getRandomValues(new Uint8Array(blanks.length)), (byte) => LETTERS[byte % LETTERS.length]).join("");
      const name = `${folder}${before}${random}${after}`;
      const path = resolve(name);
      if (await link.stat(path).then(() => true, rethrowUnlessMissing)) continue;
      if (!flags.has("u")) {
        if (flags.has("d")) await link.makeDirectory(path);
        else await link.write(path, new Uint8Array());
        await link.setMode(path, flags.has("d") ? 0o700 : 0o600);
      }
      return `${name}\n`;
    }
    throw new CommandError("no unused name found");
  },
});

function rethrowUnlessMissing(error: unknown): boolean {
  if (error instanceof FileError && error.code === "ENOENT") return false;
  throw error;
}
