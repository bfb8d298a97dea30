// The modules of a Worker, bundled as a deployment would: one script, and the compiled modules it imports.

import { readFile } from "node:fs/promises";
import { basename, join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

export type WorkerManifest = {
  mainModule: string;
  modulesRoot: string;
  modules: Record<string, { type: "esm"; contents: string } | { type: "wasm"; contents: Uint8Array<ArrayBuffer> }>;
};

/** `entry` is relative to the root of the clone. */
export async function bundleWorker(entry: string): Promise<WorkerManifest> {
  const compiled = new Set<string>();
  const compiledModules: Plugin = {
    name: "compiled-modules",
    setup(builds) {
      builds.onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
        compiled.add(join(resolveDir, path));
        return { path: `./${basename(path)}`, external: true };
      });
    },
  };
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, entry)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker"],
    external: ["node:*", "cloudflare:*"],
    plugins: [compiledModules],
    logLevel: "warning",
  });
  const modules: WorkerManifest["modules"] = { "worker.js": { type: "esm", contents: outputFiles[0]!.text } };
  for (const path of compiled) modules[basename(path)] = { type: "wasm", contents: new Uint8Array(await readFile(path)) };
  return { mainModule: "worker.js", modulesRoot: ROOT, modules };
}
