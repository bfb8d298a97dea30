// The commands for administration: configuration, tokens, users, groups and capabilities; the code of each is in its own file, loaded when the command runs.

import { type Command, Option } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addAdminCommands(program: Command, exitAfter: CommandAction): void {
  addConfigCommands(program, exitAfter);
  addTokenCommands(program, exitAfter);
  addPeopleCommands(program, exitAfter);
}

export function addTokenCommands(parent: Command, exitAfter: CommandAction): void {
  const token = parent.command("token").description("manage access tokens for browsers, machines and scripts");
  token
    .command("create")
    .description("create a token, or the command that connects a machine")
    .option("--kind <kind>", "node, service or user (default: node with --device, else user)")
    .option("--device <id>", "the only machine that may use the token")
    .option("--label <text>", "label, to tell tokens apart")
    .option("--expires <time>", "90d, 8h, 2027-01-31 or never (default: after a year without use)")
    .option("--within <time>", "deadline for the first use, such as 7d, or never (default: never, or 1h with --device)")
    .option("--uid <uid>", "for another user (root only)")
    .addOption(new Option("--expires-at <time>").hideHelp())
    .action(exitAfter(async (flags) => (await import("../commands/token.ts")).tokenCreate(flags)));
  token
    .command("list")
    .description("list tokens that are valid")
    .option("--all", "include expired and revoked tokens")
    .option("--uid <uid>", "tokens of another user (root only)")
    .action(exitAfter(async (flags) => (await import("../commands/token.ts")).tokenList(flags)));
  token
    .command("revoke <id>")
    .description("revoke a token and close the connections that use it")
    .option("--reason <text>", "reason, stored with the token")
    .option("--uid <uid>", "tokens of another user (root only)")
    .action(exitAfter(async (flags, args) => (await import("../commands/token.ts")).tokenRevoke(flags, args)));
}

function addConfigCommands(program: Command, exitAfter: CommandAction): void {
  const config = program
    .command("config")
    .description("read and write configuration")
    .option("--local", "use this CLI's config file instead of the gateway's configuration");
  config
    .command("get [key]")
    .description("print a value, or all values below a key")
    .option("--reveal", "show secrets")
    .action(exitAfter(async (flags, args) => (await import("../commands/config.ts")).configGet(flags, args)));
  config
    .command("set <key> [value]")
    .description("set a value; without one or with -, prompt for it or read it from standard input")
    .action(exitAfter(async (flags, args) => (await import("../commands/config.ts")).configSet(flags, args)));
  config
    .command("unset <key>")
    .description("remove a value, so that the default applies again")
    .action(exitAfter(async (flags, args) => (await import("../commands/config.ts")).configUnset(flags, args)));
}

function addPeopleCommands(program: Command, exitAfter: CommandAction): void {
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
