// The Net port as a `fetch` for the providers' packages, with a silence timeout: the time counts while a byte is awaited, and not
// while the consumer is busy.

import { rejectOnAbort } from "../lib/or-aborted.ts";
import { type Net, NetError } from "../ports/net.ts";

/** Passed to the packages instead of the platform's fetch. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** What happened on the wire, which the errors of the packages do not tell. */
export type Wire = {
  isAnswered: boolean;
  isSilent: boolean;
  error: NetError | null;
  /** A response that was no success, and its text. */
  refused: { status: number; headers: Headers; body: string } | null;
  /** Call it when the answer is complete: what ends the attempt then no longer closes the connection, so it can be used again. */
  release: () => void;
};

/** Error texts are short, unless they are a web page. */
const REFUSAL_BYTES = 64 * 1024;

/** The end marker of OpenAI's chat stream. Not every server closes the stream after it, so it ends the response. */
const DONE = /\ndata: ?\[DONE\]\r?\n/;
const DONE_CHARS = 20;
const END_MS = 1_000;
const END_PARTS_MAX = 10;

/** Waits for a promise until the silence timeout, and records a network error. */
export type AbortableWait = <T>(promise: Promise<T>) => Promise<T>;

export function makeAbortableWait(silenceMs: number, wire: Wire, abort: AbortController): AbortableWait {
  return async (promise) => {
    const timer = setTimeout(() => {
      wire.isSilent = true;
      abort.abort(new NetError("timeout", `No data for ${silenceMs / 1000} s`));
    }, silenceMs);
    try {
      return await rejectOnAbort(promise, abort.signal);
    } catch (error) {
      if (error instanceof NetError) wire.error ??= error;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** `credential`: requests with the same one may share connections. */
export function makeNetFetch(net: Net, credential: string, silenceMs: number, wire: Wire, abort: AbortController): Fetch {
  const withTimeout = makeAbortableWait(silenceMs, wire, abort);
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const request = new AbortController();
    const onAbort = () => request.abort(abort.signal.reason);
    abort.signal.addEventListener("abort", onAbort, { once: true });
    if (abort.signal.aborted) onAbort();
    const answer = await withTimeout(
      net.fetch(
        {
          url,
          method: init.method ?? "GET",
          headers: Object.fromEntries(new Headers(init.headers)),
          body: typeof init.body === "string" ? new TextEncoder().encode(init.body) : undefined,
        },
        // The silence timeout here covers all waits, so the port's own idle timeout must not fire first.
        { signal: request.signal, isLong: true, idleMs: silenceMs * 2, keepAliveFor: credential },
      ),
    );
    wire.isAnswered = true;
    const reader = answer.body.getReader();
    wire.release = () => {
      wire.release = () => {};
      abort.signal.removeEventListener("abort", onAbort);
      void readToEnd(reader);
    };
    let tail = "";
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const part = await withTimeout(reader.read());
          if (part.done) return controller.close();
          controller.enqueue(part.value);
          tail = (tail + String.fromCharCode(...part.value.subarray(-DONE_CHARS))).slice(-DONE_CHARS);
          if (!DONE.test(tail)) return;
          controller.close();
          wire.release();
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const { "set-cookie": _, ...given } = answer.headers;
    const headers = new Headers(given);
    const { status } = answer;
    if (status >= 200 && status < 300) return new Response(status === 204 ? null : body, { status, headers });
    wire.refused = { status, headers, body: await readBeginning(body) };
    return new Response(wire.refused.body, { status: status < 400 ? 502 : status, headers });
  };
}

/** Most servers end the body right after the last part of an answer. The connection can be used again only if that is read. */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), END_MS);
  try {
    for (let parts = 0; parts < END_PARTS_MAX && !(await reader.read()).done; parts++);
    await reader.cancel();
  } catch {
    // The answer was complete before.
  } finally {
    clearTimeout(timer);
  }
}

async function readBeginning(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > REFUSAL_BYTES) break;
  }
  return text;
}
