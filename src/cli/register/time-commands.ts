// The commands about schedules, notifications, watches, models and integrations. Most are those of the gateway's shell, with the time
// zone of this machine.

import type { Command } from "commander";
import type { CommandAction } from "./agent-commands.ts";

export function addTimeCommands(program: Command, exitAfter: CommandAction): void {
  program
    .command("sched [words...]")
    .description("run agents at set times")
    .allowUnknownOption()
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "sched", args)));
  program
    .command("crontab [file]")
    .description("show, edit or install your schedules as a crontab")
    .option("-l", "print it")
    .option("-e", "edit it with the command in VISUAL or EDITOR")
    .option("-r", "remove all of it")
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).crontab(flags, args)));
  program
    .command("notify [words...]")
    .description("list, send and dismiss notifications")
    .allowUnknownOption()
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "notify", args)));
  program
    .command("signal [words...]")
    .description("tell an agent when another one emits a signal")
    .allowUnknownOption()
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "signal", args)));
}

export function addIntegrationCommands(program: Command, exitAfter: CommandAction): void {
  const ai = program.command("ai").description("test AI models");
  ai.command("check")
    .description("test your configured model, or another provider, model, key or URL")
    .option("--provider <provider>", "provider, such as anthropic, openai or ollama")
    .option("--model <model>", "model (default: the configured one, else one that the provider has)")
    .option("--api-key [key]", "API key; without a value or with -, prompt for it or read it from standard input")
    .option("--base-url <url>", "URL of your own model server, such as http://127.0.0.1:8080/v1")
    .action(exitAfter(async (flags) => (await import("../commands/ai-check.ts")).aiCheck(flags)));
  program
    .command("mcp [words...]")
    .description("connect MCP servers and use their tools")
    .allowUnknownOption()
    .action(exitAfter(async (flags, args) => (await import("../commands/time.ts")).runHere(flags, "mcp", args)));
}
