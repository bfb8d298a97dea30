// How sources become the bundle. Heavy parts are split off and load on first use, so that a command loads only what it
// needs. `faults` builds in the switches of the crash tests.

import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function bundle({ outdir, faults = false }) {
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: {
      gsv: join(ROOT, "src/cli/main.ts"),
      "repo-thread": join(ROOT, "src/hosts/node/repo-thread.ts"),
      "shell-thread": join(ROOT, "src/hosts/node/shell-thread.ts"),
    },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    legalComments: "none",
    chunkNames: "chunks/[name]-[hash]",
    define: { GSV_FAULTS: String(faults) },
    // Some dependencies are CommonJS and ask for Node's modules with require.
    banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
    logLevel: "warning",
  });
}
