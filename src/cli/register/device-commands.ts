// The commands about machines and what runs on them; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addDeviceCommands(program: Command, exitAfter: CommandAction, keepRunning: CommandAction): void {
  const device = program.command("device").description("connect and manage machines");
  device
    .command("run")
    .description("connect this machine while the command runs; needs a device token (gsv token create --device ID)")
    .option("--id <device>", "device id (default: node.id in the config file, else node- and this machine's name)")
    .option("--workspace <dir>", "where relative paths start (default: node.workspace in the config file, else the current directory)")
    .option("--log-file [file]", "log JSON lines to a file instead of the terminal; without a name, to ~/.gsv/logs/node.log (GSV_HOME)")
    .action(keepRunning(async (flags) => (await import("../commands/device.ts")).deviceRun(flags)));
  device
    .command("install")
    .description("keep this machine connected: store its settings and start a user service (systemd or launchd)")
    .option("--id <device>", "device id (default: the stored one, else node- and this machine's name)")
    .option("--workspace <dir>", "where relative paths start (default: the stored one, else your home)")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceInstall(flags)));
  for (const [action, does] of [
    ["start", "start the service"],
    ["stop", "stop the service and its commands, until you or a reboot start it again"],
    ["restart", "restart the service"],
  ] as const)
    device
      .command(action)
      .description(does)
      .action(exitAfter(async () => (await import("../commands/device-service.ts")).deviceControl(action)));
  device
    .command("status")
    .description("show the settings and the service of this machine")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceStatus(flags)));
  device
    .command("logs")
    .description("show the service log: connections, and each call with its time and outcome")
    .option("-l, --lines <number>", "number of lines", "100")
    .option("-f, --follow", "keep showing new lines until Ctrl-C")
    .option("--id <device>", "log of another id of this machine")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceLogs(flags)));
  device
    .command("uninstall")
    .description("stop and remove the service; the settings stay")
    .action(exitAfter(async () => (await import("../commands/device-service.ts")).deviceUninstall()));
  device
    .command("list")
    .description("list machines that are online")
    .option("--all", "include machines that are offline")
    .action(exitAfter(async (flags) => (await import("../commands/device.ts")).deviceList(flags)));
  device
    .command("describe <device> [words...]")
    .description("describe what a machine is for, so that agents can choose it; without words, clear the description")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceDescribe(flags, args)));
  device
    .command("remove <device>")
    .description("remove a machine from the list; its token stays valid")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceRemove(flags, args)));
  addShellCommands(program, exitAfter);
}

function addShellCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("shell")
    .description("open a terminal on a machine, or a prompt on the gateway")
    .option("--target <name>", "where to run it: gsv (the gateway), or a machine such as laptop", "gsv")
    .action(exitAfter(async (flags) => (await import("../commands/shell.ts")).shell(flags)));
  program
    .command("run [command...]")
    .description("run a command on the gateway or a machine")
    .usage("[options] -- COMMAND [ARGUMENT...]")
    .option("--target <name>", "where to run it: gsv (the gateway), or a machine such as laptop", "gsv")
    .option("--cwd <dir>", "working directory there (default: your home, or the workspace of the machine)")
    .option("--timeout <seconds>", "stop it after this time (exit code 124); on the gateway, config/shell/timeout_ms is the maximum")
    .option("--tty", "run it in a terminal, for full-screen programs; machines only")
    .showHelpAfterError("Put -- before the command, so that gsv does not read its options: gsv run -- ls -l")
    .action(exitAfter(async (flags, args) => (await import("../commands/run.ts")).run(flags, args)));

  const jobs = program
    .command("jobs")
    .description("show running and recently finished commands")
    .option("--target <name>", "only jobs on this target")
    .action(exitAfter(async (flags) => (await import("../commands/jobs.ts")).jobsList(flags)));
  jobs
    .command("attach <id>")
    .description("follow the output of a job, or take over its terminal; the start of its id is enough")
    .action(exitAfter(async (flags, args) => (await import("../commands/jobs.ts")).jobsAttach(flags, args)));
  jobs
    .command("kill <id>")
    .description("send a signal to a job")
    .option("--signal <name>", "signal, such as INT or KILL (default: TERM, or HUP if it has a terminal)")
    .action(exitAfter(async (flags, args) => (await import("../commands/jobs.ts")).jobsKill(flags, args)));
}
