// Checks where a request may go: first the URL as written (scheme, spelling, names of local networks), then, once the name has been
// resolved, all of its addresses. A host that root listed passes both checks.

import { NetError } from "../../ports/net.ts";
import { forbiddenReason, type Prefix } from "./address.ts";
import { ALLOWED_HOSTS_KEY, type IsAllowed } from "./allow.ts";
import { EGRESS } from "./limits.ts";

export type UrlTarget = {
  url: URL;
  /** In lower case and without brackets; an IPv4 address is spelled as the caller wrote it. */
  host: string;
  port: number;
  /** What to connect to if the host is an address instead of a name. */
  address: string | null;
  isListed: boolean;
};

/** Throws a NetError of kind "bad_url" or "blocked" if the request may not be sent. */
export function parseUrlTarget(text: string, isAllowed: IsAllowed): UrlTarget {
  const { url, written } = parseUrl(text);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const isV6 = url.hostname.startsWith("[");
  const isV4 = /^\d+\.\d+\.\d+\.\d+$/.test(url.hostname);
  const host = isV4 ? written : isV6 ? url.hostname.slice(1, -1) : url.hostname;
  const address = isV6 ? host : isV4 ? url.hostname : null;
  const target = { url, host, port, address, isListed: isAllowed(host, port) };
  if (target.isListed) return target;
  if (isV4 && written !== url.hostname)
    throw new NetError("blocked", `${shorten(written)} is an unusual spelling of an address: write it as ${url.hostname}`);
  if (address !== null) checkAddresses(target, [address]);
  else if (isLocalName(host)) throw blockedError(`${shorten(host)} is a name of a local network`);
  return target;
}

/** Throws unless every address is public: one private address makes the whole name suspect. */
export function checkAddresses(target: UrlTarget, addresses: readonly string[], own: readonly Prefix[] = []): void {
  if (target.isListed) return;
  for (const address of addresses) {
    const why = forbiddenReason(address, own);
    if (why !== null)
      throw blockedError(target.address === null ? `${shorten(target.host)} resolves to ${why}` : `${shorten(target.host)} is ${why}`);
  }
}

/**
 * Resolves a Location header. A path that turns out to name another host is refused, because browsers and servers interpret such
 * spellings differently.
 */
export function resolveLocation(from: UrlTarget, location: string, isAllowed: IsAllowed): UrlTarget {
  const text = decodeUtf8(location.trim());
  if (/^[a-z][a-z0-9+.-]*:/i.test(text)) return parseUrlTarget(text, isAllowed);
  if (text.startsWith("//")) return parseUrlTarget(`${from.url.protocol}${text}`, isAllowed);
  const url = hasControls(text) || !URL.canParse(text, from.url.href) ? null : new URL(text, from.url.href);
  if (url === null || url.origin !== from.url.origin || url.username !== "" || url.password !== "")
    throw new NetError("bad_url", `${shorten(from.host)} redirects to something that is not a URL`);
  return { ...from, url };
}

function parseUrl(text: string): { url: URL; written: string } {
  const trimmed = text.trim();
  if (trimmed.length > EGRESS.urlBytes) throw new NetError("bad_url", `The URL is longer than ${EGRESS.urlBytes} characters`);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1]?.toLowerCase();
  if (scheme === undefined) throw new NetError("bad_url", "Not a URL: write it in full, like https://example.com/page");
  if (scheme !== "http" && scheme !== "https")
    throw new NetError("bad_url", `Only http and https URLs can be fetched, not ${shorten(scheme)}:`);
  const authority = /^https?:\/\/([^/?#]+)/i.exec(trimmed)?.[1];
  if (authority === undefined || hasControls(trimmed) || /[\s\\]/.test(authority))
    throw new NetError("bad_url", "Not a URL: write it as https://host/path, without spaces or backslashes in the host");
  if (authority.includes("@"))
    throw new NetError("bad_url", "The URL contains a user name or password: leave it out and send an Authorization header instead");
  const written = /^(\[[^\]]*\]|[^:]*)(?::\d{0,5})?$/.exec(authority)?.[1];
  const url = written === undefined || !URL.canParse(trimmed) ? null : new URL(trimmed);
  if (url === null || written === undefined || url.port === "0")
    throw new NetError("bad_url", `The host or port of the URL cannot be read: ${shorten(authority)}`);
  url.hash = "";
  return { url, written: written.toLowerCase() };
}

/** Top-level names that only ever resolve within a local network: RFC 6761, 6762 and its appendix G, 8375. */
const LOCAL_SUFFIXES = ["localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa"];

function isLocalName(host: string): boolean {
  const name = host.replace(/\.$/, "");
  return !name.includes(".") || LOCAL_SUFFIXES.some((suffix) => name.endsWith(`.${suffix}`));
}

function blockedError(what: string): NetError {
  return new NetError(
    "blocked",
    `${what}, and only public hosts can be reached: the user root can allow this host in Settings, Network, or with gsv config set ${ALLOWED_HOSTS_KEY}`,
  );
}

/** URL parsers drop tabs and newlines anywhere, so the parsed URL would differ from the text that was checked. */
function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 0x20 || text.charCodeAt(at) === 0x7f) return true;
  return false;
}

/** Header values arrive as one byte per character; servers that do not escape a Location send UTF-8. */
function decodeUtf8(text: string): string {
  const codes = Array.from(text, (character) => character.charCodeAt(0));
  if (!codes.some((code) => code > 0x7f) || codes.some((code) => code > 0xff)) return text;
  return new TextDecoder().decode(Uint8Array.from(codes));
}

/** Shortens untrusted text for error messages. */
export function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
