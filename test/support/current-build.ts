// The program as `npm start` builds it, for tests that run it. It is a global setup of vitest, so the build is up to date when a
// single file is tested too. Tests that need faults built in make their own build with tools/bundle.mjs.

import { fileURLToPath } from "node:url";
import { prepare } from "../../tools/setup.mjs";

/** Where tools/setup.mjs puts it: gsv.js, and downloads/ for other machines and browsers. */
export const BUILD = fileURLToPath(new URL("../../dist", import.meta.url));

export default async function setup(): Promise<void> {
  await prepare({ dev: true });
}
