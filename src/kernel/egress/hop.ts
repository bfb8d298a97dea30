// One request on the way, and the one that follows when it is answered with a redirect. What might be a credential stays
// with the origin it was meant for: only headers known to hold none go along to another, and a body never does.

import { NetError, type NetRequest } from "../../ports/net.ts";
import { VERSION } from "../../protocol/version.ts";
import type { IsAllowed } from "./allow.ts";
import { resolveLocation, short, type Target, targetOf } from "./target.ts";

export type Hop = {
  target: Target;
  method: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Uint8Array | ReadableStream<Uint8Array> | null;
};

export function firstHop(request: NetRequest, isAllowed: IsAllowed): Hop {
  const method = request.method.toUpperCase();
  if (!TOKEN.test(method) || method === "CONNECT" || method === "TRACE")
    throw new NetError("protocol", "Not a method that can be sent: use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
  const body = request.body ?? null;
  if (body !== null && (method === "GET" || method === "HEAD"))
    throw new NetError("protocol", `${method} carries no body: use another method, or leave the body out`);
  return { target: targetOf(request.url, isAllowed), method, headers: headersOf(request.headers), body };
}

export function isRedirect(status: number, location: string | undefined): location is string {
  return location !== undefined && [301, 302, 303, 307, 308].includes(status);
}

/** Where such an answer leads, with what may go along. Throws a NetError where nothing may. */
export function nextHop(hop: Hop, status: number, location: string, isAllowed: IsAllowed): Hop {
  const target = resolveLocation(hop.target, location, isAllowed);
  const from = short(hop.target.host);
  const to = short(target.host);
  if (hop.target.url.protocol === "https:" && target.url.protocol !== "https:")
    throw new NetError("blocked", `${from} redirects from https to http, which anybody on the way could read: fetch the http URL yourself`);
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status < 303 && hop.method === "POST";
  const isSameOrigin = target.url.origin === hop.target.url.origin;
  const body = becomesGet ? null : hop.body;
  if (body !== null && !isSameOrigin)
    throw new NetError("blocked", `${from} redirects a request with a body to ${to}: send it there yourself if that is where it belongs`);
  if (body !== null && !(body instanceof Uint8Array))
    throw new NetError("protocol", `${from} redirects and wants the streamed body again: send to the final URL, or send the body as bytes`);
  const kept = Object.entries(hop.headers).filter(
    ([name]) => (isSameOrigin || CARRIED.has(name)) && !(becomesGet && name.startsWith("content-")),
  );
  return { target, method: becomesGet ? "GET" : hop.method, headers: Object.fromEntries(kept), body };
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** They belong to the connection or frame the message: to let a caller write them is to let it smuggle requests. */
const OURS = new Set([
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

/** Anything else may be a credential: keys travel under many names besides Authorization and Cookie. */
const CARRIED = new Set([
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

function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  // Nothing is decompressed on the way, so nothing is asked for that would have to be.
  const headers = new Map([
    ["accept", "*/*"],
    ["accept-encoding", "identity"],
    ["user-agent", `gsv/${VERSION}`],
  ]);
  for (const [name, value] of Object.entries(given)) {
    if (!TOKEN.test(name) || !isValue(value))
      throw new NetError(
        "protocol",
        `The header ${JSON.stringify(short(name))} cannot be sent: it holds characters that no header may hold`,
      );
    if (!OURS.has(name.toLowerCase())) headers.set(name.toLowerCase(), value.trim());
  }
  return Object.fromEntries(headers);
}

/** Bytes, one per character, and no control characters: a line break would begin another header. */
function isValue(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}
