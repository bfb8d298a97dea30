// The commands about devices; the code of each is in its own file, loaded when the command runs.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function deviceCommands(program: Command, exitAfter: CommandAction, keepRunning: CommandAction): void {
  const device = program.command("device").description("machines that are targets");
  device
    .command("run")
    .description("make this machine a target for as long as this runs; needs a token of its own (gsv token create --device ID)")
    .option("--id <device>", "what it is called; else node.id of the configuration, else node- and this machine's name")
    .option("--workspace <dir>", "where relative paths begin; else node.workspace of the configuration, else here")
    .option("--log-file [file]", "write a log of JSON lines instead of remarks; else ~/.gsv/logs/node.log (GSV_HOME)")
    .action(keepRunning(async (flags) => (await import("../commands/device.ts")).deviceRun(flags)));
  device
    .command("install")
    .description("keep this machine a target: store its settings, and start a service of your user (systemd or launchd)")
    .option("--id <device>", "what it is called; else as stored, else node- and this machine's name")
    .option("--workspace <dir>", "where relative paths begin; else as stored, else your home")
    .addHelpText("after", "\nThe token comes from GSV_DEVICE_TOKEN; gsv token create --device ID prints a line that does all of it.")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceInstall(flags)));
  for (const [action, does] of [
    ["start", "start the service"],
    ["stop", "stop the service and the commands it runs, until the machine or you start it again"],
    ["restart", "stop and start it"],
  ] as const)
    device
      .command(action)
      .description(does)
      .action(exitAfter(async () => (await import("../commands/device-service.ts")).deviceControl(action)));
  device
    .command("status")
    .description("say what this machine is as a device, and whether its service runs")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceStatus(flags)));
  device
    .command("logs")
    .description("show what the service has logged: connections, and calls by name, time and outcome")
    .option("-l, --lines <number>", "how many lines", "100")
    .option("-f, --follow", "go on showing new ones until Ctrl-C")
    .option("--id <device>", "of another daemon of this machine")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceLogs(flags)));
  device
    .command("uninstall")
    .description("stop the service and remove it; the settings stay")
    .action(exitAfter(async () => (await import("../commands/device-service.ts")).deviceUninstall()));
  device
    .command("list")
    .description("list devices that are online")
    .option("--all", "those that are offline too")
    .action(exitAfter(async (flags) => (await import("../commands/device.ts")).deviceList(flags)));
  device
    .command("describe <device> [words...]")
    .description("say what a device is for, in words agents choose by; none to say nothing")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceDescribe(flags, args)));
  device
    .command("remove <device>")
    .description("forget a device")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceRemove(flags, args)));
}
