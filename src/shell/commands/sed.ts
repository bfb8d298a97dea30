// sed: just-bash's own, plus the backups of -i.bak.

import { defineCommandFile, type CommandContext } from "../command.ts";

export default defineCommandFile({
  name: "sed",
  usage: "[-nEri] [-e script] [-f path] [script] [path...]",
  doc: "Edit lines of text. -n prints only what the script prints, -E uses extended expressions, -i edits files in place, -i.bak keeps a backup.",
  async run(context, args) {
    const at = args.findIndex((arg) => /^(?:-[nErsz]*i.|--in-place=.)/.test(arg));
    const [, letters, suffix] = /^(?:(-[nErsz]*i)|--in-place=)(.+)$/.exec(args[at] ?? "") ?? [];
    if (suffix === undefined || /^[nEr]+$/.test(suffix)) return context.builtin(args);
    const builtinArgs = args.map((arg, index) => (index === at ? (letters ?? "-i") : arg));
    for (const path of pathsIn(builtinArgs)) await writeBackup(context, path, suffix);
    return context.builtin(builtinArgs);
  },
});

async function writeBackup({ link, read, resolve }: CommandContext, path: string, suffix: string): Promise<void> {
  const bytes = await read(path).catch(() => null);
  const copy = suffix.includes("*") ? suffix.replace("*", path.split("/").pop() ?? "") : path + suffix;
  if (bytes !== null) await link.write(resolve(copy), bytes);
}

/** All arguments that are not flags, without the script if no flag passes one. */
function pathsIn(args: readonly string[]): string[] {
  const positional: string[] = [];
  let hasScript = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (/^(?:-[nErsz]*[ef]|--expression|--file)$/.test(arg)) at++;
    else if (!/^-./.test(arg)) positional.push(arg);
    hasScript ||= /^(?:-[nErsz]*[ef]|--expression|--file)/.test(arg);
  }
  return hasScript ? positional : positional.slice(1);
}
