// The commands about schedules, notifications and watches. They are those of the gateway's shell, with the time zone of this machine.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addTimeCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("sched [words...]")
    .description("run agents at set times: list, add, show, history, enable, disable, remove, run, preview")
    .allowUnknownOption()
    .addHelpText(
      "after",
      "\nExamples: gsv sched add every weekday at 9 summarise my mail" +
        '\n          gsv sched add --every 2h --name "Disk check" check the disk space of all machines' +
        '\n          gsv sched add --at "tomorrow 09:00" remind me to call mum' +
        "\n          gsv sched list   gsv sched history NAME   gsv sched run NAME --force" +
        "\nTimes of day are in the time zone of this machine, or in --timezone ZONE. gsv run -- man sched explains everything.",
    )
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "sched", args)));
  program
    .command("crontab [file]")
    .description("show (-l), edit (-e), remove (-r) or install your schedules as a crontab; - is standard input")
    .option("-l", "print it")
    .option("-e", "edit it with the command in VISUAL or EDITOR")
    .option("-r", "remove all of it")
    .addHelpText("after", "\nA file takes the place of all schedules with cron expressions. gsv run -- man crontab explains its format.")
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).crontab(flags, args)));
  program
    .command("notify [words...]")
    .description("notifications: list, send, read, dismiss")
    .allowUnknownOption()
    .addHelpText(
      "after",
      '\nExamples: gsv notify list --unread   gsv notify send "The backup is done" --level success   gsv notify dismiss --all' +
        "\ngsv run -- man notify explains everything.",
    )
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "notify", args)));
  program
    .command("signal [words...]")
    .description("have an agent told when another one emits a signal: list, watch, unwatch")
    .allowUnknownOption()
    .addHelpText("after", "\nExample: gsv signal watch proc.run.finished --process PID   gsv run -- man signal explains everything.")
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "signal", args)));
}
