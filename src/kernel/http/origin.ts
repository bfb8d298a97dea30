// Which Host and Origin headers a request may have. A foreign web page, or a DNS name that was made to point at this machine, must
// not be able to open a socket: the Host must be one of the gateway's, and so must the Origin, which every browser sends. Programs
// send no Origin.

export type OriginPolicy = {
  /** Maps a Host header (host[:port], lower case) to the address at which people reach the gateway by it. */
  hosts: ReadonlyMap<string, string>;
  /** scheme://host[:port], lower case. */
  origins: ReadonlySet<string>;
};

export function originRefusal(policy: OriginPolicy, host: string | null | undefined, origin: string | null | undefined): string | null {
  if (!host || !policy.hosts.has(host.toLowerCase()))
    return "This gateway does not answer to that name: list the address you use with --origin (on Cloudflare, GSV_ORIGIN)";
  if (origin === null || origin === undefined) return null;
  if (!policy.origins.has(origin.toLowerCase()))
    return "Pages from that origin may not connect: list the address you use with --origin (on Cloudflare, GSV_ORIGIN)";
  return null;
}

/** Builds the policy from the gateway's addresses. A Host header may or may not name the scheme's default port. */
export function makeOriginPolicy(origins: readonly string[]): OriginPolicy {
  const hosts = new Map<string, string>();
  const allowed = new Set<string>();
  for (const text of origins) {
    const url = new URL(text);
    const origin = url.origin.toLowerCase();
    allowed.add(origin);
    const names = [url.host.toLowerCase()];
    if (url.port === "") names.push(`${url.hostname.toLowerCase()}:${url.protocol === "https:" ? 443 : 80}`);
    // If a host is listed with both schemes, https wins.
    for (const name of names) if (!hosts.get(name)?.startsWith("https:")) hosts.set(name, origin);
  }
  return { hosts, origins: allowed };
}
