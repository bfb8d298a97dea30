// The Net port as a `fetch` for the MCP client. What a server sends is bounded before it is parsed: the size, depth and number of values
// of each message, because parsing happens in the kernel's thread. Redirects are left to the client, which stays within the origin.

import { type Net, NetError, type NetOptions } from "../ports/net.ts";
import { findFrameProblem } from "../protocol/scan.ts";

export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

export const MESSAGE_BYTES = 4 * 1024 * 1024;
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
  const fetch = makeFetch(net, METADATA, (body) => limitDocument(body, METADATA_BYTES));
  return async (input, init) => {
    const response = await fetch(input, init);
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
  return /^text\/event-stream\b/i.test(contentType) ? limitEvents(body) : limitDocument(body, MESSAGE_BYTES);
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
        checkText(new TextDecoder().decode(bytes));
        controller.enqueue(bytes);
      },
    }),
  );
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/g;
/** Characters of a boundary that may lie across two parts. */
const OVERLAP = 3;

/** How soon to connect again is not the server's decision: "at once" would be a loop without end. */
const RETRY = /(^|[\r\n])retry:[^\r\n]*/g;

/** Passes on whole events. */
function limitEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let text = "";
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        EVENT_END.lastIndex = Math.max(0, text.length - OVERLAP);
        text += decoder.decode(part, { stream: true });
        let from = 0;
        while (EVENT_END.test(text)) {
          const event = text.slice(from, EVENT_END.lastIndex);
          checkText(event);
          // A comment in place of the line: without it, the event could end there.
          controller.enqueue(encoder.encode(event.replaceAll(RETRY, "$1:")));
          from = EVENT_END.lastIndex;
        }
        text = text.slice(from);
        if (text.length > MESSAGE_BYTES) throw tooLargeError(MESSAGE_BYTES);
      },
    }),
  );
}

/** The client compares every entry of these lists with a schema, which takes long for each that does not match. */
const LISTS = ["content", "tools", "resources", "resourceTemplates", "prompts", "messages", "contents"];
const ENTRIES_MAX = 1_000;
const BATCH_MAX = 100;
/** Shorter messages have no long lists. */
const SHORT_CHARS = 8 * 1024;

function checkText(text: string): void {
  if (text.length > MESSAGE_BYTES) throw tooLargeError(MESSAGE_BYTES);
  if (findFrameProblem(text) !== null || hasLongList(text))
    throw new NetError("too_large", "A message is nested too deeply or has too many values");
}

function hasLongList(text: string): boolean {
  if (text.length < SHORT_CHARS) return false;
  const data = text.startsWith("{") || text.startsWith("[") ? text : text.replaceAll(/^(?!data:).*$/gm, "").replaceAll(/^data: ?/gm, "");
  const message = parseJson(data);
  const messages: unknown[] = Array.isArray(message) ? message : [message];
  return messages.length > BATCH_MAX || messages.some((one) => LISTS.some((list) => countOf(one, list) > ENTRIES_MAX));
}

function countOf(message: unknown, list: string): number {
  const { result } = Object(message) as { result?: unknown };
  const entries = (Object(result) as Record<string, unknown>)[list];
  return Array.isArray(entries) ? entries.length : 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function tooLargeError(bytesMax: number): NetError {
  return new NetError("too_large", `A message is larger than ${bytesMax / 1024} KiB`);
}
