// useradd: the same call as gsv user add.

import { defineCommandFile, CommandError } from "../command.ts";
import { makeLineReader } from "../input.ts";

export default defineCommandFile({
  name: "useradd",
  usage: "[-c full-name] [-G group,...] name",
  doc: "Add a user. Only root may do this. Reads the password of the new user from standard input.",
  async run(context, args) {
    const options: { gecos?: string; groups?: string[] } = {};
    const rest: string[] = [];
    for (let at = 0; at < args.length; at++) {
      if (args[at] === "-c") options.gecos = args[++at] ?? failMissingValue("-c");
      else if (args[at] === "-G") options.groups = (args[++at] ?? failMissingValue("-G")).split(",").filter(Boolean);
      else if (args[at]!.startsWith("-") && args[at] !== "-m") throw new CommandError(`unknown option ${args[at]}`, 2);
      else if (args[at] !== "-m") rest.push(args[at]!);
    }
    const [username, ...others] = rest;
    if (username === undefined || others.length > 0) throw new CommandError("give one user name", 2);
    const password = await makeLineReader(context)("password of the new user");
    await context.link.runSyscall("sys.user.create", { username, password, ...options });
    return `useradd: ${username} can log in now\n`;
  },
});

function failMissingValue(flag: string): never {
  throw new CommandError(`${flag} needs a value`, 2);
}
