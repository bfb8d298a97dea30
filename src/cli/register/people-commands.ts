// The commands about users, groups and capabilities; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function peopleCommands(program: Command, exitAfter: CommandAction): void {
  const user = program.command("user").description("the people of a gateway");
  user
    .command("add <name>")
    .description("add a user")
    .option("--new-password <password>", "their password; - reads it from standard input")
    .option("--name <text>", "their full name")
    .option("--group <group...>", "further groups")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userAdd(flags, args)));
  user
    .command("list")
    .description("list users")
    .action(exitAfter(async (flags) => (await import("../commands/user.ts")).userList(flags)));
  user
    .command("passwd [name]")
    .description("change your password, or as root anybody's")
    .option("--current <password>", "your present password; - reads it from standard input")
    .option("--new-password <password>", "the new one; - reads it from standard input")
    .option("--revoke-tokens", "end all tokens of that user too")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userPassword(flags, args)));
  user
    .command("lock <name>")
    .description("let a user in no more and close their connections")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userLock(flags, args, true)));
  user
    .command("unlock <name>")
    .description("let a user in again")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userLock(flags, args, false)));

  const group = program.command("group").description("groups of users");
  group
    .command("list")
    .description("list groups")
    .action(exitAfter(async (flags) => (await import("../commands/group.ts")).groupList(flags)));
  group
    .command("add <name>")
    .description("add a group that may do nothing yet")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupAdd(flags, args)));
  group
    .command("remove <group>")
    .description("remove a group")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupRemove(flags, args)));
  group
    .command("members <group> [users...]")
    .description("show the members, or set them")
    .option("--add", "add the users named")
    .option("--remove", "remove the users named")
    .option("--none", "leave nobody in it")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupMembers(flags, args)));

  const capability = program.command("capability").description("what groups may do");
  capability
    .command("list [group]")
    .description("list capabilities")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityList(flags, args)));
  capability
    .command("grant <group> <capability>")
    .description("such as sys.token.list or sys.config.*")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityGrant(flags, args)));
  capability
    .command("revoke <group> <capability>")
    .description("exactly as it was granted")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityRevoke(flags, args)));
}
