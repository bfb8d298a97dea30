// The Net port over the platform's fetch. A Worker cannot resolve a name and pin the address, and need not: it has neither
// loopback nor a network of its own. Its requests leave from Cloudflare's edge, where private, link-local and loopback addresses
// lead nowhere unless the operator binds a network on purpose, as a service that fetch does not use. So a name that points at a
// private address, or rebinds to one, reaches nothing here. kernel/egress still checks addresses and local names, so that a URL
// means the same on both hosts. Locally (wrangler dev, miniflare) there is no platform: names resolve on the developer's machine,
// and only this check of the spelling protects its network.

import type { IsAllowed } from "../../kernel/egress/allow.ts";
import type { ByteSource } from "../../kernel/egress/body.ts";
import { type EgressResponse, Egress } from "../../kernel/egress/egress.ts";
import type { Hop } from "../../kernel/egress/hop.ts";
import type { Timer } from "../../kernel/egress/watch.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { type Net, NetError } from "../../ports/net.ts";

export function makeCloudflareNet(options: { isAllowed: IsAllowed }): Net {
  return new Egress({ isAllowed: options.isAllowed, timer, send });
}

const timer: Timer = (ms, fire) => {
  const handle = setTimeout(fire, ms);
  return () => clearTimeout(handle);
};

/** The platform connects and waits in one step, so only the total timeout applies here, no connect timeout. */
async function send({ target, method, headers, body }: Hop, signal: AbortSignal): Promise<EgressResponse> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    const pending = fetch(target.url.href, {
      method,
      headers: { ...headers },
      body,
      redirect: "manual",
      signal: controller.signal,
      // Not decompressed: the caller decides whether to unpack content that may grow a thousandfold.
      encodeResponseBody: "manual",
    });
    const response = await rejectOnAbort(pending, signal);
    return { status: response.status, headers: headersOf(response.headers), body: toByteSource(response.body, controller) };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const why = error instanceof Error ? error.message : String(error);
    throw new NetError("connect", `Cannot reach ${target.host} (${why}): check the URL, or try again later`, error);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function toByteSource(body: ReadableStream<Uint8Array> | null, controller: AbortController): ByteSource {
  const reader = body?.getReader();
  return {
    async read() {
      const part = await reader?.read();
      return part === undefined || part.done ? null : part.value;
    },
    close() {
      reader?.cancel().catch(() => {});
      controller.abort();
    },
  };
}

function headersOf(given: Headers): Record<string, string> {
  const headers = new Map<string, string>();
  given.forEach((value, name) => headers.set(name, value));
  const cookies = given.getSetCookie();
  if (cookies.length > 0) headers.set("set-cookie", cookies.join("\n"));
  return Object.fromEntries(headers);
}
