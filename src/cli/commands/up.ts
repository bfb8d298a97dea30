// gsv up: runs the gateway in the foreground.

import type { UpFlags } from "../../hosts/node/options.ts";

export async function up(flags: UpFlags): Promise<void> {
  const [{ startGateway }, { upOptions }, { OperatorError }] = await Promise.all([
    import("../../hosts/node/gateway.ts"),
    import("../../hosts/node/options.ts"),
    import("../../hosts/node/home.ts"),
  ]);
  try {
    const options = upOptions(flags, process.env);
    const gateway = await startGateway(options);
    console.log(banner(gateway, options.home));
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => void gateway.close().then(() => process.exit(0)));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    console.error(`gsv: ${error.message}`);
    process.exit(1);
  }
}

function banner(gateway: { url: string; isSetupMode: boolean; setupCode: string | null }, home: string): string {
  const lines = [`GSV is up at ${gateway.url}`, `Data and logs are in ${home}`];
  if (gateway.isSetupMode) lines.push("", "It has no user yet. In another terminal: npx gsv auth setup");
  if (gateway.setupCode !== null) lines.push(`Setup code, needed once because others can reach this gateway: ${gateway.setupCode}`);
  return lines.join("\n");
}
