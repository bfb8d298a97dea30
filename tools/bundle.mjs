// Bundles the sources. Heavy parts are split off and load on first use, so that a command loads only what it needs. `faults`
// builds in the switches of the crash tests. downloads/ beside it holds what the gateway serves to other machines: the command
// line and the device daemon as one file with its checksum, the install scripts, and the web desktop. Run as a program, with a
// folder and optionally a Node for the web desktop, it makes the build of a clone.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, transform } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");

/** zod's messages in fifty languages are a quarter of the single file, and ours are in English. */
const ONE_LANGUAGE = {
  name: "one-language",
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** prom-client loads it for exemplars, which /metrics does not have. */
const WITHOUT_TRACING = {
  name: "without-tracing",
  setup(build) {
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path }) => ({ path, namespace: "without-tracing" }));
    build.onLoad({ filter: /.*/, namespace: "without-tracing" }, () => ({ contents: "export {};" }));
  },
};

/** Comments of packages stay in a bundle otherwise, and V8 keeps the source of every file in memory. */
const WITHOUT_COMMENTS = {
  name: "without-comments",
  setup(build) {
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path }) => ({
      contents: (await transform(readFileSync(path, "utf8"), { minifyWhitespace: true, legalComments: "none", target: "esnext" })).code,
    }));
  },
};

const COMMON = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  minifySyntax: true,
  legalComments: "none",
  // Native code, which cannot be bundled: loaded from node_modules if it is installed there, and optional.
  external: ["@lydell/node-pty"],
  // Some dependencies are CommonJS and load Node's modules with require.
  banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
  logLevel: "warning",
  plugins: [ONE_LANGUAGE, WITHOUT_TRACING, WITHOUT_COMMENTS],
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await products();
  await bundle({ outdir: process.argv[2], node: process.argv[3] || null });
}

/** `node` builds the web desktop and must be new enough for Vite; a machine without one cannot run a gateway either. */
export async function bundle({ outdir, faults = false, node = null }) {
  rmSync(outdir, { recursive: true, force: true });
  await Promise.all([
    program(outdir, faults),
    downloads(join(outdir, "downloads")),
    node === null ? null : web(node, join(outdir, "downloads/web")),
  ]);
}

/** Derived source files. They are rewritten only if their content changes, because tests may be reading them. */
async function products() {
  const outfile = join(ROOT, `.setup/products-${process.pid}.mjs`);
  try {
    await build({ ...COMMON, entryPoints: [join(ROOT, "tools/products.ts")], outfile });
    await run(process.execPath, [outfile, ROOT], {}, "The reference and the guides could not be written");
  } finally {
    rmSync(outfile, { force: true });
  }
}

function web(node, outdir) {
  const env = { ...process.env, NODE_ENV: "production" };
  return run(node, [join(ROOT, "tools/web.mjs"), outdir], { env }, "The web desktop could not be built");
}

function run(program, args, options, problem) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: "inherit", ...options });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${problem}: the lines above say why`))));
  });
}

async function program(outdir, faults) {
  await build({
    ...COMMON,
    entryPoints: {
      gsv: join(ROOT, "src/cli/main.ts"),
      "repo-thread": join(ROOT, "src/hosts/node/repo-thread.ts"),
      "shell-thread": join(ROOT, "src/hosts/node/shell-thread.ts"),
      "sandbox-thread": join(ROOT, "src/hosts/node/sandbox-thread.ts"),
    },
    outdir,
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    define: { GSV_FAULTS: String(faults), GSV_ONE_FILE: "false" },
  });
  // The engine of scripts, which the gateway compiles when the first script runs.
  copyFileSync(join(ROOT, "node_modules/quickjs-wasi/quickjs.wasm"), join(outdir, "quickjs.wasm"));
}

async function downloads(outdir) {
  const file = join(outdir, "gsv.mjs");
  await build({
    ...COMMON,
    entryPoints: [join(ROOT, "src/cli/main.ts")],
    outfile: file,
    minify: true,
    define: { GSV_FAULTS: "false", GSV_ONE_FILE: "true" },
  });
  mkdirSync(outdir, { recursive: true });
  const sha256 = createHash("sha256").update(readFileSync(file)).digest().toString("hex");
  writeFileSync(`${file}.sha256`, `${sha256}  gsv.mjs\n`);
  for (const script of ["install.sh", "install.ps1"]) copyFileSync(join(ROOT, "src/cli/install", script), join(outdir, script));
}
