// The commands about devices; the code of each is in its own file, loaded when the command runs.

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
    .addHelpText(
      "after",
      "\nThe token is read from GSV_DEVICE_TOKEN. gsv token create --device ID prints a command that installs everything.",
    )
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
    .description("show this machine's device settings and service state")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceStatus(flags)));
  device
    .command("logs")
    .description("show the service log: connections, and each call with its time and outcome")
    .option("-l, --lines <number>", "number of lines", "100")
    .option("-f, --follow", "keep showing new lines until Ctrl-C")
    .option("--id <device>", "log of another device on this machine")
    .action(exitAfter(async (flags) => (await import("../commands/device-service.ts")).deviceLogs(flags)));
  device
    .command("uninstall")
    .description("stop and remove the service; the settings stay")
    .action(exitAfter(async () => (await import("../commands/device-service.ts")).deviceUninstall()));
  device
    .command("list")
    .description("list devices that are online")
    .option("--all", "include offline devices")
    .action(exitAfter(async (flags) => (await import("../commands/device.ts")).deviceList(flags)));
  device
    .command("describe <device> [words...]")
    .description("describe what a device is for, so that agents can choose it; without words, clear the description")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceDescribe(flags, args)));
  device
    .command("remove <device>")
    .description("remove a device from the list; its token stays valid")
    .action(exitAfter(async (flags, args) => (await import("../commands/device.ts")).deviceRemove(flags, args)));
}
