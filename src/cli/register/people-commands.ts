// The commands about users, groups and capabilities; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addPeopleCommands(program: Command, exitAfter: CommandAction): void {
  const user = program.command("user").description("manage users");
  user
    .command("add <name>")
    .description("add a user")
    .option("--new-password <password>", "password; - reads it from standard input")
    .option("--name <text>", "full name")
    .option("--group <group...>", "additional groups")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userAdd(flags, args)));
  user
    .command("list")
    .description("list users")
    .action(exitAfter(async (flags) => (await import("../commands/user.ts")).userList(flags)));
  user
    .command("passwd [name]")
    .description("change your password, or as root any user's")
    .option("--current <password>", "your current password; - reads it from standard input")
    .option("--new-password <password>", "the new password; - reads it from standard input")
    .option("--revoke-tokens", "also revoke all tokens of that user")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userPassword(flags, args)));
  user
    .command("lock <name>")
    .description("lock a user out and close their connections")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userLock(flags, args, true)));
  user
    .command("unlock <name>")
    .description("let a locked user log in again")
    .action(exitAfter(async (flags, args) => (await import("../commands/user.ts")).userLock(flags, args, false)));

  const group = program.command("group").description("manage groups");
  group
    .command("list")
    .description("list groups")
    .action(exitAfter(async (flags) => (await import("../commands/group.ts")).groupList(flags)));
  group
    .command("add <name>")
    .description("add a group, without any capabilities")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupAdd(flags, args)));
  group
    .command("remove <group>")
    .description("remove a group")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupRemove(flags, args)));
  group
    .command("members <group> [users...]")
    .description("show or set the members of a group")
    .option("--add", "add these users")
    .option("--remove", "remove these users")
    .option("--none", "remove all members")
    .action(exitAfter(async (flags, args) => (await import("../commands/group.ts")).groupMembers(flags, args)));

  const capability = program.command("capability").description("manage what groups may do");
  capability
    .command("list [group]")
    .description("list capabilities")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityList(flags, args)));
  capability
    .command("grant <group> <capability>")
    .description("grant a capability, such as sys.token.list or sys.config.*")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityGrant(flags, args)));
  capability
    .command("revoke <group> <capability>")
    .description("revoke a capability, written exactly as it was granted")
    .action(exitAfter(async (flags, args) => (await import("../commands/capability.ts")).capabilityRevoke(flags, args)));
}
