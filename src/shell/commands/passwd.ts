// passwd: the same call as gsv user passwd. It reads passwords from standard input or the terminal, never from arguments.

import { defineCommandFile, CommandError } from "../command.ts";
import { makeLineReader } from "../input.ts";

export default defineCommandFile({
  name: "passwd",
  usage: "[user]",
  doc: "Change a password. Reads your current password and the new one from standard input, one line each. Root enters only the new one, and may name a user.",
  async run(context, args) {
    const { who, link } = context;
    const [username = who.username] = args;
    const isRoot = who.uid === 0;
    if (!isRoot && username !== who.username) throw new CommandError(`you may not change the password of ${username}`);
    const readLine = makeLineReader(context);
    const current = isRoot ? undefined : await readLine("current password");
    const password = await readLine("new password");
    await link.runSyscall("sys.user.password", { username, password, ...(current === undefined ? {} : { current }) });
    return "passwd: password changed\n";
  },
});
