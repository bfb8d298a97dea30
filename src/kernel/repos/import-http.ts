// The way out for an import: what a repository asks of a remote goes through the Net port, with its address policy, and
// ends when the caller goes.

import { SysError, type ErrorCode } from "../../lib/sys-error.ts";
import type { ActorHttp } from "../../ports/actors.ts";
import { type Net, NetError, type NetErrorKind } from "../../ports/net.ts";
import { LIMITS } from "../../repo/limits.ts";

/** A pack with what frames it. */
const BYTES_MAX = Math.round(LIMITS.packBytes * 1.02);
const TIMEOUT_MS = 5 * 60 * 1000;

const CODE_OF: Partial<Record<NetErrorKind, ErrorCode>> = { bad_url: 400, blocked: 403, too_large: 413, timeout: 504 };

export function importHttp(net: Net, signal: AbortSignal): ActorHttp {
  return async (url, request) => {
    const answer = await net.fetch({ url, ...request }, { signal, bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS }).catch(known);
    return { status: answer.status, headers: { ...answer.headers }, url: answer.url, body: knowing(answer.body) };
  };
}

function known(error: unknown): never {
  if (error instanceof NetError) throw new SysError(CODE_OF[error.kind] ?? 503, error.message);
  throw error;
}

/** The same stream with failures that callers are told of as they are. */
function knowing(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch(known);
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
