// uniq: just-bash's own, with the counts padded to the width that scripts expect.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "uniq",
  usage: "[-cdui] [path]",
  doc: "Print adjacent equal lines once. -c adds a count, -d prints only repeated lines, -u only unique lines, -i ignores case.",
  async run({ builtin }, args) {
    const result = await builtin(args);
    const hasCounts = args.some((arg) => arg === "--count" || /^-[a-z]*c/.test(arg));
    return hasCounts
      ? { ...result, stdout: (result.stdout ?? "").replace(/^ *(\d+) /gm, (_, count: string) => `${count.padStart(7)} `) }
      : result;
  },
});
