// Downloads for other machines, from the Worker's static assets: the folder that the bundler wrote before the deployment.

import type { ReadDownload } from "../../kernel/http/downloads.ts";
import type { Env } from "./options.ts";

/** Assets are found by path; the host name is ignored. */
const ASSETS = "https://assets.local/";

export function makeCloudflareDownloads(env: Env): ReadDownload {
  return async (name) => {
    const found = await env.DOWNLOADS?.fetch(new URL(name, ASSETS));
    return found?.ok ? new Uint8Array(await found.arrayBuffer()) : null;
  };
}
