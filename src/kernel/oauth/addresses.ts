// Addresses of other parties that people and providers give: https, or http on this machine for development. Whether a host may be reached
// at all is decided by egress, when something is sent.

import { fail } from "../../lib/sys-error.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** The parsed URL; fails with 400 and names the argument. */
export function mustBeRemoteUrl(text: string, name: string): URL {
  const url = URL.canParse(text) ? new URL(text) : fail(400, `${name} must be an absolute URL`);
  if (url.username !== "" || url.password !== "") fail(400, `${name} must not include credentials`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && LOOPBACK.has(url.hostname)))
    fail(400, `${name} must use https, except localhost development URLs`);
  return url;
}

/** An origin without path, query or credentials. */
export function mustBeRemoteOrigin(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : fail(400, `${name} must be a URL origin`);
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") fail(400, `${name} must be a URL origin`);
  return mustBeRemoteUrl(text, name).origin;
}
