// The gateway of trust:mcp as a program of its own, so that its memory, threads and files can be read from outside. It is the Node host
// as it is, except that its clock can be moved forward, and that no name is looked up: the bar sends nothing beyond this machine.
// It answers the messages of gateway.ts beside it, and ends with its parent.

import { Resolver } from "node:dns/promises";
import { startGateway } from "../../../src/hosts/node/gateway.ts";
import { parseUpOptions } from "../../../src/hosts/node/options.ts";

export type Order = "look" | { moveMs: number };
export type Answer =
  | { kind: "up"; url: string; setupCode: string | null }
  | { kind: "moved" }
  /** Names that others have put into what all objects inherit. */
  | { kind: "looked"; foreign: string[] };

const BUILT_IN = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
const known = BUILT_IN.map((each) => new Set(Reflect.ownKeys(each)));
const realNow = Date.now.bind(Date);
let movedMs = 0;
Date.now = () => realNow() + movedMs;

const refuse = () => Promise.reject(Object.assign(new Error("no names are looked up here"), { code: "ENOTFOUND" }));
Resolver.prototype.resolve4 = refuse;
Resolver.prototype.resolve6 = refuse;

const [home = "", logLevel = "debug"] = process.argv.slice(2);
const gateway = await startGateway(parseUpOptions({ home, port: "0", logLevel }, {}));
process.on("message", (order: Order) => {
  if (order === "look") return say({ kind: "looked", foreign: findForeignNames() });
  movedMs += order.moveMs;
  say({ kind: "moved" });
});
process.on("disconnect", () => process.exit());
process.on("SIGTERM", () => void gateway.close().then(() => process.exit()));
say({ kind: "up", url: gateway.url, setupCode: gateway.setupCode });

function say(answer: Answer): void {
  process.send?.(answer);
}

function findForeignNames(): string[] {
  return BUILT_IN.flatMap((each, at) => Reflect.ownKeys(each).filter((key) => known[at]?.has(key) !== true)).map(String);
}
