// Where a gateway is, from what people type or have in their configuration. A URL names a place and nothing else: one
// that carries a user, a query or a fragment is refused, so that no link can bring a credential or an endpoint along.

import { isLoopback } from "../../lib/address.ts";
import { Problem } from "../terminal/problem.ts";

export type Address = {
  /** ws://localhost:8787/ws */
  url: string;
  /** ws://localhost:8787: what credentials are bound to, compared as a whole. */
  origin: string;
  /** http://localhost:8787/healthz */
  healthUrl: string;
  hostname: string;
  isLocal: boolean;
  isEncrypted: boolean;
};

export const DEFAULT_URL = "ws://localhost:8787/ws";

const SCHEMES: Record<string, string> = { "ws:": "ws:", "http:": "ws:", "wss:": "wss:", "https:": "wss:" };

export function gatewayAddress(text: string): Address {
  // The parser would mend these silently and may then see another host than the reader does.
  if (/[\s\\\p{Cc}]/u.test(text)) throw refused(text, "it contains a blank, a backslash or a control character");
  const url = URL.canParse(text) ? new URL(text) : null;
  const scheme = SCHEMES[url?.protocol ?? ""];
  if (url === null || scheme === undefined || !/^[a-z]+:\/\/[^/]/i.test(text))
    throw refused(text, "it is not a ws, wss, http or https URL");
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text)) throw refused(text, "it carries a user or password");
  if (text.includes("?")) throw refused(text, "it carries a query");
  if (text.includes("#")) throw refused(text, "it carries a fragment");
  // Replaced in the text, because a URL object keeps a port that is the other scheme's default.
  const socket = new URL(text.replace(/^[a-z]+:/i, scheme));
  if (socket.pathname === "/") socket.pathname = "/ws";
  const health = new URL(socket.href.replace(/^ws/, "http"));
  health.pathname = health.pathname.replace(/\/[^/]*$/, "/healthz");
  return {
    url: socket.href,
    origin: socket.origin,
    healthUrl: health.href,
    hostname: socket.hostname,
    isLocal: isLoopback(socket.hostname),
    isEncrypted: scheme === "wss:",
  };
}

/** Says nothing of the text beyond its host: the rest may be somebody's password. */
function refused(text: string, why: string): Problem {
  const shown = /^[a-z]+:\/\/[a-z0-9.:[\]-]+(?=[/?#]|$)/i.exec(text)?.[0] ?? "the gateway URL";
  return new Problem(`Refused ${shown}: ${why}. Use something like ${DEFAULT_URL} or wss://gsv.example.com`);
}
