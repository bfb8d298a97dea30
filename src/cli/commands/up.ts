// gsv up: runs this machine's gateway, in the foreground or as a service.

import type { UpFlags } from "../../hosts/node/options.ts";
import { Problem } from "../terminal/problem.ts";

/** True in the single file that other machines download: it has no gateway, and the bundler drops what only a gateway needs. */
declare const GSV_ONE_FILE: boolean;

export async function up(flags: UpFlags & { service?: string | true }): Promise<number | void> {
  if (typeof GSV_ONE_FILE !== "undefined" && GSV_ONE_FILE) {
    throw new Problem("This installation has no gateway, only the command line. Run the gateway from a clone of GSV: npm start");
  } else if (flags.service === undefined) {
    return (await import("./foreground.ts")).runGateway(flags);
  } else {
    return (await import("../service/gateway.ts")).controlGatewayService(flags.service, flags);
  }
}
