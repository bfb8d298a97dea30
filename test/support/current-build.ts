// The program as `npm start` builds it, for tests that run it: global setup of vitest, so that it is up to date for a single
// file as well. Tests that need it with faults built in make their own with tools/bundle.mjs.

import { fileURLToPath } from "node:url";
import { prepare } from "../../tools/setup.mjs";

/** Where tools/setup.mjs puts it: gsv.js, and downloads/ for other machines and browsers. */
export const BUILD = fileURLToPath(new URL("../../dist", import.meta.url));

export default async function setup(): Promise<void> {
  await prepare({ dev: true });
}
