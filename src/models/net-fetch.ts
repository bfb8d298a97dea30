// The Net port in the shape that the providers' packages ask for, with a watch on silence: it counts while a byte is being
// waited for, and not while whoever reads is busy otherwise.

import { orAborted } from "../lib/or-aborted.ts";
import { type Net, NetError } from "../ports/net.ts";

/** What the packages are given in place of the platform's own. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** What happened on the wire, for whoever has to tell it from the errors that packages make of it. */
export type Wire = {
  isAnswered: boolean;
  isSilent: boolean;
  error: NetError | null;
  /** An answer that was no success, and what it said. */
  refused: { status: number; headers: Headers; body: string } | null;
};

/** Errors are a line or two, unless they are somebody's web page. */
const REFUSAL_BYTES = 64 * 1024;

/** How OpenAI's chat says that nothing follows. Not every server closes its answer after it, so nobody waits for that. */
const DONE = /\ndata: ?\[DONE\]\r?\n/;
const DONE_CHARS = 20;

/** Waits for a promise no longer than for so much silence, and notes what came in its place. */
export type Waiting = <T>(promise: Promise<T>) => Promise<T>;

export function waitingFor(silenceMs: number, wire: Wire, abort: AbortController): Waiting {
  return async (promise) => {
    const timer = setTimeout(() => {
      wire.isSilent = true;
      abort.abort(new NetError("timeout", `Nothing came for ${silenceMs / 1000} s`));
    }, silenceMs);
    try {
      return await orAborted(promise, abort.signal);
    } catch (error) {
      if (error instanceof NetError) wire.error ??= error;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

export function netFetch(net: Net, silenceMs: number, wire: Wire, abort: AbortController): Fetch {
  const waiting = waitingFor(silenceMs, wire, abort);
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const answer = await waiting(
      net.fetch(
        {
          url,
          method: init.method ?? "GET",
          headers: Object.fromEntries(new Headers(init.headers)),
          body: typeof init.body === "string" ? new TextEncoder().encode(init.body) : undefined,
        },
        // Silence is watched here from the first moment on, so that the port's own watch need not end it sooner.
        { signal: abort.signal, isLong: true, idleMs: silenceMs * 2 },
      ),
    );
    wire.isAnswered = true;
    const reader = answer.body.getReader();
    let tail = "";
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const part = await waiting(reader.read());
          if (part.done) return controller.close();
          controller.enqueue(part.value);
          tail = (tail + String.fromCharCode(...part.value.subarray(-DONE_CHARS))).slice(-DONE_CHARS);
          if (!DONE.test(tail)) return;
          controller.close();
          await reader.cancel();
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const { "set-cookie": _, ...given } = answer.headers;
    const headers = new Headers(given);
    const { status } = answer;
    if (status >= 200 && status < 300) return new Response(status === 204 ? null : body, { status, headers });
    wire.refused = { status, headers, body: await beginning(body) };
    return new Response(wire.refused.body, { status: status < 400 ? 502 : status, headers });
  };
}

async function beginning(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > REFUSAL_BYTES) break;
  }
  return text;
}
