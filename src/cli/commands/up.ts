// gsv up: the gateway of this machine, in the foreground or as a service.

import type { UpFlags } from "../../hosts/node/options.ts";
import { Problem } from "../terminal/problem.ts";

/** True in the one file that other machines download: it holds no gateway, and the bundler leaves out what only that needs. */
declare const GSV_ONE_FILE: boolean;

export async function up(flags: UpFlags & { service?: string | true }): Promise<number | void> {
  if (typeof GSV_ONE_FILE !== "undefined" && GSV_ONE_FILE) {
    throw new Problem("This is the command line alone. The gateway runs from a clone of GSV: npm start there");
  } else if (flags.service === undefined) {
    return (await import("./foreground.ts")).runGateway(flags);
  } else {
    return (await import("../service/gateway.ts")).gatewayService(flags.service, flags);
  }
}
