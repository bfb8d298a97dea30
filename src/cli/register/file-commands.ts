// The commands about files, repositories and workspaces; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addFileCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("ls [path]")
    .description("list a directory on the gateway or a machine")
    .action(exitAfter(async (flags, args) => (await import("../commands/ls.ts")).ls(flags, args)));
  program
    .command("cat <path>")
    .description("print a file")
    .action(exitAfter(async (flags, args) => (await import("../commands/cat.ts")).cat(flags, args)));
  program
    .command("write <path> [file]")
    .description("create or replace a file")
    .action(exitAfter(async (flags, args) => (await import("../commands/write.ts")).write(flags, args)));
  program
    .command("rm <path...>")
    .description("delete files and directories")
    .option("-r, --recursive", "required for directories if there is no terminal to ask at")
    .option("-f, --force", "do not ask before deleting a directory")
    .action(exitAfter(async (flags, args) => (await import("../commands/rm.ts")).rm(flags, args)));
  program
    .command("cp <from...>")
    .usage("[options] <from...> <to>")
    .description("copy files between this computer, the gateway (gsv:PATH) and machines (laptop:PATH)")
    .option("-r, --recursive", "copy directories with everything in them")
    .option("-n, --no-clobber", "do not overwrite existing files")
    .action(exitAfter(async (flags, args) => (await import("../commands/cp.ts")).cp(flags, args)));
  program
    .command("search <text> [path]")
    .description("search files for a text")
    .option("--include <glob>", "only search files whose name matches, such as *.md")
    .action(exitAfter(async (flags, args) => (await import("../commands/search.ts")).search(flags, args)));

  const repo = program.command("repo").description("manage git repositories on the gateway");
  repo
    .command("list")
    .description("list the repositories that you can read")
    .option("--owner <name>", "only those of one user")
    .action(exitAfter(async (flags) => (await import("../commands/repo.ts")).repoList(flags)));
  repo
    .command("create <name>")
    .description("create a repository and print how to clone it")
    .option("--description <text>", "description of the repository")
    .option("--public", "let everybody read it, even without logging in")
    .action(exitAfter(async (flags, args) => (await import("../commands/repo.ts")).repoCreate(flags, args)));
  repo
    .command("log <repo>")
    .description("show the commits of a branch, newest first")
    .option("--ref <ref>", "branch, tag or commit (default: main)")
    .option("--limit <number>", "number of commits, at most 100 (default: 30)")
    .action(exitAfter(async (flags, args) => (await import("../commands/repo.ts")).repoLog(flags, args)));
  repo
    .command("diff <repo> <commit>")
    .description("show what a commit changed")
    .action(exitAfter(async (flags, args) => (await import("../commands/repo.ts")).repoDiff(flags, args)));

  const workspace = program.command("workspace").description("manage workspaces: directories that outlive an agent");
  workspace
    .command("list")
    .description("list your workspaces")
    .option("--all", "include archived workspaces")
    .action(exitAfter(async (flags) => (await import("../commands/workspace.ts")).workspaceList(flags)));
  workspace
    .command("create [label]")
    .description("create a workspace and print its id")
    .action(exitAfter(async (flags, args) => (await import("../commands/workspace.ts")).workspaceCreate(flags, args)));
}
