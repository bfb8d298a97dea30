// The Net port as a `fetch` for the MCP client. What a server sends is bounded before it is parsed: the size, depth and number of values
// of each message, because parsing happens in the kernel's thread. Redirects are left to the client, which stays within the origin.

import type { Net, NetOptions } from "../ports/net.ts";
import { limitEvents } from "./events.ts";
import { checkMessage, MESSAGE_BYTES, tooLargeError } from "./messages.ts";

export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** All messages of one connection: servers send notifications for as long as it is open. */
const STREAM_BYTES = 1024 * 1024 * 1024;
/** A stream of notifications may be silent for long; what waits for an answer has a timeout of its own. */
const SILENCE_MS = 24 * 60 * 60 * 1000;
const METADATA_BYTES = 256 * 1024;
const METADATA_MS = 10_000;

const MESSAGES: NetOptions = { isLong: true, idleMs: SILENCE_MS, bytesMax: STREAM_BYTES };
const METADATA: NetOptions = { timeoutMs: METADATA_MS, bytesMax: METADATA_BYTES };

/** For the messages of a connection. */
export function makeMessageFetch(net: Net): McpFetch {
  return makeFetch(net, MESSAGES, limitMessages);
}

/** For documents about how to sign in. */
export function makeMetadataFetch(net: Net): McpFetch {
  const netFetch = makeFetch(net, METADATA, (body) => limitDocument(body, METADATA_BYTES));
  return async (input, init) => {
    const response = await netFetch(input, init);
    if (response.status !== 404) return response;
    // The client goes on to the next address and leaves this page unread, which would keep the connection until the time is up.
    await response.body?.cancel();
    return new Response(null, { status: 404 });
  };
}

type Limit = (body: ReadableStream<Uint8Array>, contentType: string) => ReadableStream<Uint8Array>;

function makeFetch(net: Net, options: NetOptions, limit: Limit): McpFetch {
  return async (input, init = {}) => {
    const { body } = init;
    if (body != null && typeof body !== "string" && !(body instanceof URLSearchParams)) throw new TypeError("The body must be text");
    const answer = await net.fetch(
      {
        url: String(input),
        method: init.method ?? "GET",
        headers: Object.fromEntries(new Headers(init.headers)),
        body: body == null ? undefined : new TextEncoder().encode(String(body)),
      },
      { ...options, redirects: "manual", signal: init.signal ?? undefined },
    );
    const { "set-cookie": _, ...headers } = answer.headers;
    const { status } = answer;
    if (status === 204 || status === 205 || status === 304 || status < 200) {
      await answer.body.cancel();
      return new Response(null, { status: status < 200 ? 502 : status, headers });
    }
    return new Response(limit(answer.body, headers["content-type"] ?? ""), { status, headers });
  };
}

function limitMessages(body: ReadableStream<Uint8Array>, contentType: string): ReadableStream<Uint8Array> {
  // As the client tells them apart.
  return contentType.split(";", 1)[0]!.trim().toLowerCase() === "text/event-stream"
    ? limitEvents(body)
    : limitDocument(body, MESSAGE_BYTES);
}

/** Reads a whole document before anything of it is passed on. */
function limitDocument(body: ReadableStream<Uint8Array>, bytesMax: number): ReadableStream<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part) {
        size += part.length;
        if (size > bytesMax) throw tooLargeError(bytesMax);
        parts.push(part);
      },
      async flush(controller) {
        const bytes = new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
        checkMessage(new TextDecoder().decode(bytes));
        controller.enqueue(bytes);
      },
    }),
  );
}
