// The address of a gateway, from user input or configuration. A URL is an address and nothing else: one with a user, a query or a
// fragment is refused, so that no link can carry a credential or an endpoint.

import { isLoopback } from "../../lib/address.ts";
import { Problem } from "../terminal/problem.ts";

export type Address = {
  /** ws://localhost:8787/ws */
  url: string;
  /** ws://localhost:8787: credentials are bound to it, and it is compared as a whole. */
  origin: string;
  /** http://localhost:8787/healthz */
  healthUrl: string;
  hostname: string;
  isLocal: boolean;
  isEncrypted: boolean;
};

export const DEFAULT_URL = "ws://localhost:8787/ws";

const SCHEMES: Record<string, string> = { "ws:": "ws:", "http:": "ws:", "wss:": "wss:", "https:": "wss:" };

export function parseGatewayAddress(text: string): Address {
  // The URL parser silently repairs these, and may then see another host than the reader does.
  if (/[\s\\\p{Cc}]/u.test(text)) throw makeAddressProblem(text, "it contains a space, a backslash or a control character");
  const url = URL.canParse(text) ? new URL(text) : null;
  const scheme = SCHEMES[url?.protocol ?? ""];
  if (url === null || scheme === undefined || !/^[a-z]+:\/\/[^/]/i.test(text))
    throw makeAddressProblem(text, "it is not a ws, wss, http or https URL");
  if (url.username !== "" || url.password !== "" || /^[^/]*\/\/[^/?#]*@/.test(text))
    throw makeAddressProblem(text, "it contains a user name or password");
  if (text.includes("?")) throw makeAddressProblem(text, "it contains a query");
  if (text.includes("#")) throw makeAddressProblem(text, "it contains a fragment");
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

/** The message repeats only the host of the text: the rest may contain a password. */
function makeAddressProblem(text: string, why: string): Problem {
  const shown = /^[a-z]+:\/\/[a-z0-9.:[\]-]+(?=[/?#]|$)/i.exec(text)?.[0] ?? "";
  return new Problem(
    `Invalid gateway address${shown === "" ? "" : ` ${shown}`}: ${why}. Use an address like ${DEFAULT_URL} or wss://gsv.example.com`,
  );
}
