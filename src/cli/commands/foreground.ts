// Runs the gateway in the foreground until a signal ends it.

import type { UpFlags } from "../../hosts/node/options.ts";
import { toDialableUrl, cliCommand } from "../../lib/gsv-at.ts";
import { commandName, isCommandInstalled } from "../launcher/command-name.ts";
import { Problem } from "../terminal/problem.ts";
import { printSentences } from "../terminal/terminal.ts";

export async function runGateway(flags: UpFlags): Promise<void> {
  mustHaveSqlite();
  // Set here and not in the gateway, because the umask is process-wide: only the owner may read what the gateway writes.
  process.umask(0o077);
  const [{ startGateway }, { parseUpOptions }, { OperatorError }] = await Promise.all([
    import("../../hosts/node/gateway.ts"),
    import("../../hosts/node/options.ts"),
    import("../../hosts/node/home.ts"),
  ]);
  try {
    const options = parseUpOptions(flags, process.env);
    const gateway = await startGateway(options);
    printSentences(banner(gateway, options.home));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => void gateway.close().then(() => process.exit(0)));
  } catch (error) {
    if (error instanceof OperatorError) throw new Problem(error.message);
    throw error;
  }
}

/** bin/gsv.mjs switches to a newer Node by itself; this check is for people who run the bundle directly. */
function mustHaveSqlite(): void {
  const [major = 0] = process.versions.node.split(".").map(Number);
  if (major < 24)
    throw new Problem(
      `The gateway needs Node 24, and this is Node ${process.versions.node}. Start it with npm start in the clone, which installs its own`,
    );
}

function banner(gateway: { url: string; isSetupMode: boolean; setupCode: string | null }, home: string): string {
  const url = toDialableUrl(gateway.url);
  const lines = [
    `GSV is up at ${url}${url === gateway.url ? "" : " and at this machine's other addresses"}`,
    `Data and logs are in ${home}`,
  ];
  if (gateway.isSetupMode)
    lines.push(
      "",
      `To set it up, open the address above in a browser, or run in another terminal: ${cliCommand(url, commandName())} auth setup`,
    );
  // It would be a file in the user's home, so it is offered and not done.
  if (!isCommandInstalled()) lines.push("", "To type gsv instead of npx gsv: npx gsv command install");
  if (gateway.setupCode !== null) lines.push(`Setup code, needed because other machines can reach this gateway: ${gateway.setupCode}`);
  return lines.join("\n");
}
