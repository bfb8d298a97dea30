// One request, and the request that follows it when the answer is a redirect. Anything that might be a credential stays with its
// origin: only headers known to hold none are sent to another origin, and a body never is.

import { NetError, type NetRequest } from "../../ports/net.ts";
import { VERSION } from "../../protocol/version.ts";
import type { IsAllowed } from "./allow.ts";
import { resolveLocation, shorten, type UrlTarget, parseUrlTarget } from "./target.ts";

export type Hop = {
  target: UrlTarget;
  method: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | ReadableStream<Uint8Array> | null;
};

export function firstHop(request: NetRequest, isAllowed: IsAllowed): Hop {
  const method = request.method.toUpperCase();
  if (!TOKEN.test(method) || method === "CONNECT" || method === "TRACE")
    throw new NetError("protocol", "Unsupported method: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
  const body = request.body ?? null;
  if (body !== null && (method === "GET" || method === "HEAD"))
    throw new NetError("protocol", `${method} carries no body: use another method, or leave the body out`);
  return { target: parseUrlTarget(request.url, isAllowed), method, headers: makeRequestHeaders(request.headers), body };
}

export function isRedirect(status: number, location: string | undefined): location is string {
  return location !== undefined && [301, 302, 303, 307, 308].includes(status);
}

/** The request that follows a redirect, with the headers and body it may carry. Throws a NetError if it must not be sent. */
export function nextHop(hop: Hop, status: number, location: string, isAllowed: IsAllowed): Hop {
  const target = resolveLocation(hop.target, location, isAllowed);
  const from = shorten(hop.target.host);
  const to = shorten(target.host);
  if (hop.target.url.protocol === "https:" && target.url.protocol !== "https:")
    throw new NetError("blocked", `${from} redirects from https to http, which is not encrypted: fetch the http URL yourself`);
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  const isSameOrigin = target.url.origin === hop.target.url.origin;
  const body = becomesGet ? null : hop.body;
  if (body !== null && !isSameOrigin)
    throw new NetError("blocked", `${from} redirects a request with a body to ${to}: send it there yourself if that is where it belongs`);
  if (body !== null && !(body instanceof Uint8Array))
    throw new NetError("protocol", `${from} redirects and wants the streamed body again: send to the final URL, or send the body as bytes`);
  const headers = Object.entries(hop.headers).filter(
    ([name]) => (isSameOrigin || CROSS_ORIGIN.has(name)) && !(becomesGet && name.startsWith("content-")),
  );
  return { target, method: becomesGet ? "GET" : hop.method, headers: Object.fromEntries(headers), body };
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that belong to the connection or frame the message: a caller who could set them could smuggle requests. */
const MANAGED = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that may be sent to another origin. Any other may be a credential, not only Authorization and Cookie. */
const CROSS_ORIGIN = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "git-protocol",
  "if-modified-since",
  "if-none-match",
  "range",
  "user-agent",
]);

function makeRequestHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  // Answers are not decompressed here, so no compression is requested.
  const headers = new Map([
    ["accept", "*/*"],
    ["accept-encoding", "identity"],
    ["user-agent", `gsv/${VERSION}`],
  ]);
  for (const [name, value] of Object.entries(given)) {
    if (!TOKEN.test(name) || !isHeaderValue(value))
      throw new NetError(
        "protocol",
        `The header ${JSON.stringify(shorten(name))} cannot be sent: it contains characters that are not allowed in headers`,
      );
    if (!MANAGED.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim());
  }
  return Object.fromEntries(headers);
}

/** One byte per character and no control characters: a line break would start another header. */
function isHeaderValue(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}
