// Builds the web desktop into the given folder: hashed files with compressed copies beside them. Prints how much a first visit
// loads and fails if that is too much, before anybody notices on a phone. Run by tools/bundle.mjs.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build as buildScript } from "esbuild";
import { build } from "vite";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Limits for the JavaScript of a first visit and of any one file, gzipped. */
const FIRST_LOAD_BYTES_MAX = 32 * 1024;
const CHUNK_BYTES_MAX = 120 * 1024;
/** The limit for one font, which browsers load as it is. */
const FONT_BYTES_MAX = 30 * 1024;
/** With everything that it imports statically. */
const FIRST = /web\/src\/main\.tsx$/;

/** The page paints only after the script has run: never in the wrong theme, never without its content. */
const PAINT_ONCE = {
  name: "paint-once",
  transformIndexHtml: {
    order: "post",
    handler: (html) => html.replace('<script type="module"', '<script type="module" blocking="render"'),
  },
};

await web(process.argv[2] ?? join(ROOT, "dist/downloads/web"));

async function web(outdir) {
  await build({
    configFile: false,
    root: join(ROOT, "web"),
    logLevel: "warn",
    build: {
      outDir: outdir,
      emptyOutDir: true,
      target: "es2023",
      // No asset becomes a data: URL, and browsers that support modules can preload them.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // What a first visit loads is one file: it compresses better, and is one request.
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "first", test: FIRST }] } } },
    },
    plugins: [PAINT_ONCE],
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  });
  await buildPushWorker(outdir);
  const sizes = compress(outdir);
  const page = readFileSync(join(outdir, "index.html"));
  writeFileSync(join(outdir, "index.html.sha256"), createHash("sha256").update(page).digest("hex"));
  check(page.toString("utf8"), sizes);
  checkFonts(outdir);
}

/** The service worker keeps its name: the browser asks for it again by that. */
async function buildPushWorker(outdir) {
  await buildScript({
    entryPoints: [join(ROOT, "web/src/push-worker/push-worker.ts")],
    outfile: join(outdir, "push-worker.js"),
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2023",
    logLevel: "warning",
  });
}

/** Writes .br and .gz beside every file; returns gzipped sizes by name. */
function compress(outdir) {
  const sizes = new Map();
  for (const name of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    if (!/\.(html|js|css|svg|webmanifest)$/.test(name)) continue;
    const bytes = readFileSync(join(outdir, name));
    const gz = gzipSync(bytes, { level: 9 });
    writeFileSync(join(outdir, `${name}.gz`), gz);
    writeFileSync(
      join(outdir, `${name}.br`),
      brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    );
    sizes.set(name.replaceAll("\\", "/"), gz.length);
  }
  return sizes;
}

/** The page names its script and everything that script imports statically. */
function check(page, sizes) {
  const scripts = [...sizes].filter(([name]) => name.endsWith(".js"));
  const first = scripts.filter(([name]) => page.includes(`/${name}`)).reduce((sum, [, size]) => sum + size, 0);
  const [largest, largestSize] = scripts.toSorted((a, b) => b[1] - a[1])[0];
  console.error(
    `gsv: the web desktop loads ${kib(first)} of JavaScript first; its largest of ${scripts.length} files is ${kib(largestSize)} (${largest}), gzipped.`,
  );
  if (first > FIRST_LOAD_BYTES_MAX)
    stop(`a first visit loads ${kib(first)} of JavaScript, more than ${kib(FIRST_LOAD_BYTES_MAX)}: import() what is not needed at once`);
  if (largestSize > CHUNK_BYTES_MAX) stop(`${largest} is ${kib(largestSize)}, more than ${kib(CHUNK_BYTES_MAX)}: split it`);
}

function checkFonts(outdir) {
  for (const name of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".woff2")) continue;
    const { size } = statSync(join(outdir, name));
    if (size > FONT_BYTES_MAX) stop(`the font ${name} is ${kib(size)}, more than ${kib(FONT_BYTES_MAX)}: take a smaller subset`);
  }
}

function stop(why) {
  console.error(`gsv: the web desktop is too large: ${why}.`);
  process.exit(1);
}

function kib(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
