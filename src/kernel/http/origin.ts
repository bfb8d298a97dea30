// Which Host and Origin a request may carry. A web page elsewhere, or a name that was made to point at this machine,
// must not be able to open a socket: the Host must be one we answer to, and an Origin, which every browser sends, must
// be one of ours. Programs send no Origin.

export type OriginPolicy = {
  /** host[:port], lower case, as a Host header spells it. */
  hosts: ReadonlySet<string>;
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
  const hosts = new Set<string>();
  const allowed = new Set<string>();
  for (const text of origins) {
    const url = new URL(text);
    allowed.add(url.origin.toLowerCase());
    hosts.add(url.host.toLowerCase());
    if (url.port === "") hosts.add(`${url.hostname.toLowerCase()}:${url.protocol === "https:" ? 443 : 80}`);
  }
  return { hosts, origins: allowed };
}
