#!/usr/bin/env node
// The `gsv` command. In a clone it first makes sure that there is a bundle and that it is up to date. The gateway itself
// needs Node 24; everything else runs on the Node that is there.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { handOver, prepare, ROOT } from "../tools/setup.mjs";

if (existsSync(join(ROOT, "src"))) await prepare({ dev: false });
const bundle = join(ROOT, "dist/gsv.js");
const args = process.argv.slice(2);
// The first word that is not a flag is the command; global flags with values stand before it rarely, and never before up.
if (args.find((arg) => !arg.startsWith("-")) === "up") handOver([bundle, ...args]);
else await import(bundle);
