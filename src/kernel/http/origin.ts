// Which Host and Origin a request may carry. A web page elsewhere, or a name that was made to point at this machine,
// must not be able to open a socket: the Host must be one we answer to, and an Origin, which every browser sends, must
// be one of ours. Programs send no Origin.

export type OriginPolicy = {
  /** By host[:port], lower case, as a Host header spells it: the address people reach the gateway at by it. */
  hosts: ReadonlyMap<string, string>;
  /** scheme://host[:port], lower case. */
  origins: ReadonlySet<string>;
};

export function originRefusal(policy: OriginPolicy, host: string | null | undefined, origin: string | null | undefined): string | null {
  if (!host || !policy.hosts.has(host.toLowerCase()))
    return "This gateway does not answer to that name: list the address you use with --origin (on Cloudflare, GSV_ORIGIN)";
  if (origin === null || origin === undefined) return null;
  if (!policy.origins.has(origin.toLowerCase()))
    return "Pages of that origin may not connect: list the address you use with --origin (on Cloudflare, GSV_ORIGIN)";
  return null;
}

/** From the addresses the gateway is reached at. Ports that a scheme implies may be left out by clients. */
export function originPolicy(origins: readonly string[]): OriginPolicy {
  const hosts = new Map<string, string>();
  const allowed = new Set<string>();
  for (const text of origins) {
    const url = new URL(text);
    const origin = url.origin.toLowerCase();
    allowed.add(origin);
    const names = [url.host.toLowerCase()];
    if (url.port === "") names.push(`${url.hostname.toLowerCase()}:${url.protocol === "https:" ? 443 : 80}`);
    // Listed by both schemes, people are sent to the safe one.
    for (const name of names) if (!hosts.get(name)?.startsWith("https:")) hosts.set(name, origin);
  }
  return { hosts, origins: allowed };
}
