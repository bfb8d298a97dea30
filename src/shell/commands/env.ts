// env: just-bash's own, except that a command it starts sees the variables.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "env",
  usage: "[-i] [-u name] [name=value...] [command [word...]]",
  doc: "Run a command with other environment variables. -u removes one, -i removes all. Without a command, print them.",
  async run({ builtin, exec }, args) {
    const first = args.findIndex((arg) => !/^[A-Za-z_]\w*=/.test(arg));
    // just-bash's own is correct with flags, and without a command.
    if (first < 1 || args[first]!.startsWith("-"))
      return first === 0 && !args[0]!.startsWith("-") ? exec(args, { withInput: true }) : builtin(args);
    const variables = Object.fromEntries(
      args.slice(0, first).map((arg) => [arg.slice(0, arg.indexOf("=")), arg.slice(arg.indexOf("=") + 1)]),
    );
    return exec(args.slice(first), { withInput: true, variables });
  },
});
