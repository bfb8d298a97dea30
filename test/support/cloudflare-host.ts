// The Cloudflare host in its own workerd, on a scratch directory and a free port. The Worker is bundled once per process, as a
// deployment would bundle it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Log, LogLevel, Miniflare } from "miniflare";
import type { Host } from "./host.ts";
import { bundleWorker, type WorkerManifest } from "./worker-bundle.ts";

export type CloudflareHost = Host & {
  /** Discards the kernel object's memory while its sockets stay open, as the platform does with an idle object. */
  hibernate(): Promise<void>;
};

const WORKER = "gsv";

/** `env` holds further variables of the Worker: GSV_ORIGIN, GSV_SECRET_KEY; `downloads` is the folder deployed as its assets. */
export async function startCloudflareHost(
  options: { setupCode?: string; env?: Record<string, string>; downloads?: string } = {},
): Promise<CloudflareHost> {
  const setupCode = options.setupCode ?? "TEST-CODE-2345";
  const directory = mkdtempSync(join(tmpdir(), "gsv-cloudflare-"));
  bundle ??= bundleWorker("src/hosts/cloudflare/worker.ts");
  const manifest = await bundle;
  const start = async () => {
    const miniflare = new Miniflare(
      miniflareOptions(manifest, directory, { ...options.env, GSV_SETUP_CODE: setupCode }, options.downloads),
    );
    return { miniflare, url: (await miniflare.ready).origin };
  };
  let running = await start();
  const host: CloudflareHost = {
    name: "cloudflare",
    url: running.url,
    setupCode,
    async restart() {
      await running.miniflare.dispose();
      running = await start();
      host.url = running.url;
    },
    hibernate: () => running.miniflare.unsafeEvictDurableObject(WORKER, "KernelObject", { name: "singleton", webSockets: "hibernate" }),
    async close() {
      await running.miniflare.dispose();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return host;
}

let bundle: Promise<WorkerManifest> | undefined;

function miniflareOptions(
  manifest: WorkerManifest,
  directory: string,
  variables: Record<string, string>,
  downloads?: string,
): ConstructorParameters<typeof Miniflare>[0] {
  const texts = Object.entries(variables).map(([name, value]) => [name, { type: "text" as const, value }]);
  return {
    host: "127.0.0.1",
    port: 0,
    telemetry: { enabled: false },
    log: new Log(LogLevel.ERROR),
    // Refused logins are part of many tests, so only errors are printed.
    handleStructuredLogs: ({ level, message }) => (level === "error" ? console.error(message) : undefined),
    resourcePersistencePath: directory,
    workers: [
      {
        config: {
          name: WORKER,
          compatibilityDate: "2026-10-01",
          compatibilityFlags: ["nodejs_compat"],
          manifest,
          env: {
            KERNEL: { type: "durable-object", worker: WORKER, exportName: "KernelObject" },
            REPOS: { type: "durable-object", worker: WORKER, exportName: "RepoObject" },
            SHELLS: { type: "durable-object", worker: WORKER, exportName: "ShellObject" },
            PROCESSES: { type: "durable-object", worker: WORKER, exportName: "ProcessObject" },
            FILES: { type: "r2", name: "files" },
            ...Object.fromEntries(texts),
            ...(downloads === undefined ? {} : { DOWNLOADS: { type: "assets" as const } }),
          },
          ...(downloads === undefined ? {} : { assets: { directory: downloads, runWorkerFirst: true, hasUserWorker: true } }),
          exports: {
            KernelObject: { type: "durable-object", storage: "sqlite" },
            RepoObject: { type: "durable-object", storage: "sqlite" },
            ShellObject: { type: "durable-object", storage: "sqlite" },
            ProcessObject: { type: "durable-object", storage: "sqlite" },
          },
        },
      },
    ],
  };
}
