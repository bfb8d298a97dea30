// The command line, put together: names, flags and help here; each command's work in a file of its own, loaded when
// it is called.

import { Command } from "commander";
import { VERSION } from "../protocol/version.ts";

const program = new Command("gsv").version(VERSION).description("One intelligence across your machines.");

program
  .command("up")
  .description("run the gateway")
  .option("--home <dir>", "data directory (GSV_HOME, else ~/.gsv)")
  .option("--port <number>", "port (GSV_PORT, else 8787)")
  .option("--host <address>", "address to listen on (GSV_HOST, else 127.0.0.1)")
  .option("--allow-remote", "listen beyond this machine")
  .option("--origin <origin...>", "further addresses the gateway is reached at, such as https://gsv.example.com")
  .option("--trust-proxy <address...>", "reverse proxies whose X-Forwarded-For is believed")
  .option("--tls-cert <file>", "certificate in PEM")
  .option("--tls-key <file>", "its key in PEM")
  .option("--log-level <level>", "debug, info, warn or error")
  .option("--log-stdout", "log to standard output instead of the data directory")
  .action(async (flags: Record<string, never>) => (await import("./commands/up.ts")).up(flags));

await program.parseAsync();
