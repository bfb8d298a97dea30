// HTTP for imports: a repository's requests to a remote go through the Net port with its address policy, and are aborted when the
// caller disconnects.

import { SysError, type ErrorCode } from "../../lib/sys-error.ts";
import type { ActorHttp } from "../../ports/actors.ts";
import { type Net, NetError, type NetErrorKind } from "../../ports/net.ts";
import { LIMITS } from "../../repo/limits.ts";

/** A pack with its framing. */
const BYTES_MAX = Math.round(LIMITS.packBytes * 1.02);
const TIMEOUT_MS = 5 * 60 * 1000;

const CODE_OF: Partial<Record<NetErrorKind, ErrorCode>> = { bad_url: 400, blocked: 403, too_large: 413, timeout: 504 };

export function makeImportHttp(net: Net, signal: AbortSignal): ActorHttp {
  return async (url, request) => {
    const answer = await net.fetch({ url, ...request }, { signal, bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS }).catch(throwAsSysError);
    return { status: answer.status, headers: { ...answer.headers }, url: answer.url, body: withSysErrors(answer.body) };
  };
}

function throwAsSysError(error: unknown): never {
  if (error instanceof NetError) throw new SysError(CODE_OF[error.kind] ?? 503, error.message);
  throw error;
}

/** The same stream, with network errors turned into errors that callers may see. */
function withSysErrors(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch(throwAsSysError);
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
