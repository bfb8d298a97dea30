// What other machines download, from the Worker's static assets: the folder that the bundler wrote before the deployment.

import type { Downloads } from "../../kernel/http/downloads.ts";
import type { Env } from "./options.ts";

/** Assets are found by path; the name before it means nothing. */
const ASSETS = "https://assets.local/";

export function cloudflareDownloads(env: Env): Downloads {
  return async (name) => {
    const found = await env.DOWNLOADS?.fetch(new URL(name, ASSETS));
    return found?.ok ? new Uint8Array(await found.arrayBuffer()) : null;
  };
}
