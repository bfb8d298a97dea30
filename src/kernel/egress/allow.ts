// Which hosts root listed as reachable although their addresses are not public: the entries of config/net/allowed_hosts,
// and the model servers root chose (kernel/agents/ai-settings.ts). A host is matched as it is written in URLs: listing a name does
// not list its address, and listing an address does not list the names that resolve to it. The kernel reads the settings.

/** `host` is in lower case and without brackets. */
export type IsAllowed = (host: string, port: number) => boolean;

export const ALLOWED_HOSTS_KEY = "config/net/allowed_hosts";

/** Entries are "host" for every port, or "host:port", separated by commas or white space. Other entries are ignored. */
export function makeAllowList(listed: string | undefined, ...baseUrls: readonly (string | undefined)[]): IsAllowed {
  const entries = new Set<string>();
  for (const text of (listed ?? "").split(/[\s,]+/)) for (const entry of parseEntry(text)) entries.add(entry);
  // A base URL names one service, so it lists only that port of the host.
  for (const baseUrl of baseUrls) for (const entry of entriesOfUrl(baseUrl ?? "")) entries.add(entry);
  return (host, port) => entries.has(host) || entries.has(entryKey(host, port));
}

function parseEntry(text: string): string[] {
  if (text.includes("://")) return entriesOfUrl(text);
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const plain = /^([^:[\]/]+)(?::(\d+))?$/.exec(text);
  const host = bracketed?.[1] ?? plain?.[1] ?? (text.split(":").length > 2 ? text : "");
  const port = bracketed?.[2] ?? plain?.[2];
  const spelled = canonicalizeHost(host);
  if (spelled === null) return [];
  return [port === undefined ? spelled : entryKey(spelled, Number(port))];
}

function entriesOfUrl(text: string): string[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return [];
  return [entryKey(url.hostname.replace(/^\[|\]$/g, ""), Number(url.port) || (url.protocol === "https:" ? 443 : 80))];
}

/** The spelling that target.ts uses: names and IPv6 as the URL parser writes them, IPv4 as the caller wrote it. */
function canonicalizeHost(host: string): string | null {
  const isV6 = host.includes(":");
  const text = `http://${isV6 ? `[${host}]` : host}/`;
  if (host === "" || !URL.canParse(text)) return null;
  const spelled = new URL(text).hostname;
  if (isV6) return spelled.slice(1, -1);
  return /^\d+\.\d+\.\d+\.\d+$/.test(spelled) ? host.toLowerCase() : spelled;
}

/** Host names contain no space, so an entry with a port never equals one without. */
function entryKey(host: string, port: number): string {
  return `${host} ${port}`;
}
