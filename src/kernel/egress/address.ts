// Which addresses are forbidden: everything that is not clearly a public host on the Internet, including text that cannot be parsed
// as an address. Addresses that embed another one (mapped, NAT64, 6to4, Teredo) are forbidden whatever they embed, so there is no
// unpacking to get wrong. Whether root listed the host is checked in target.ts.

export type Prefix = { bytes: Uint8Array; bits: number };

/** Why the address is forbidden, as text that follows "is"; null for a public one. `own` are the networks of the machine itself. */
export function forbiddenReason(address: string, own: readonly Prefix[] = []): string | null {
  const bytes = parseAddress(address);
  if (bytes === null) return "no readable address";
  for (const [prefix, why] of FORBIDDEN) if (contains(prefix, bytes)) return why;
  if (bytes.length === 16 && !contains(GLOBAL_UNICAST, bytes)) return "a reserved address";
  return own.some((prefix) => contains(prefix, bytes)) ? "an address of the gateway's own network" : null;
}

/** Parses an address to four or sixteen bytes. Null for anything but the plain spelling: no zone, no short or zero-padded IPv4. */
export function parseAddress(text: string): Uint8Array | null {
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

/** Parses a prefix such as "2001:db8::/32"; without a slash, it covers the one address. */
export function parsePrefix(text: string): Prefix | null {
  const [address = "", bits] = text.split("/");
  const bytes = parseAddress(address);
  if (bytes === null) return null;
  const length = bits === undefined ? bytes.length * 8 : Number(bits);
  return Number.isInteger(length) && length >= 0 && length <= bytes.length * 8 ? { bytes, bits: length } : null;
}

const LISTED: readonly (readonly [string, string])[] = [
  // IANA's special-purpose registries, except for the few anycast services in them that are public.
  ["0.0.0.0/8", "an unspecified address"],
  ["10.0.0.0/8", "a private address"],
  ["100.64.0.0/10", "a carrier's private address"],
  ["127.0.0.0/8", "a loopback address"],
  ["169.254.0.0/16", "a link-local address"],
  ["172.16.0.0/12", "a private address"],
  ["192.0.0.0/24", "a reserved address"],
  ["192.0.2.0/24", "an address for documentation"],
  ["192.88.99.0/24", "a 6to4 relay"],
  ["192.168.0.0/16", "a private address"],
  ["198.18.0.0/15", "an address for benchmarks"],
  ["198.51.100.0/24", "an address for documentation"],
  ["203.0.113.0/24", "an address for documentation"],
  ["224.0.0.0/4", "a multicast address"],
  ["240.0.0.0/4", "a reserved address"],
  // Looks public, but is the platform endpoint of every virtual machine on Azure, which hands out credentials.
  ["168.63.129.16/32", "a cloud platform's own address"],
  ["::/128", "an unspecified address"],
  ["::1/128", "a loopback address"],
  ["::/96", "an IPv4-compatible address"],
  ["::ffff:0:0/96", "an IPv4-mapped address"],
  ["::ffff:0:0:0/96", "an IPv4-translated address"],
  ["64:ff9b::/96", "a NAT64 address"],
  ["64:ff9b:1::/48", "a NAT64 address"],
  ["100::/64", "a discard address"],
  ["2001::/32", "a Teredo address"],
  ["2001::/23", "a reserved address"],
  ["2001:db8::/32", "an address for documentation"],
  ["2002::/16", "a 6to4 address"],
  ["3fff::/20", "an address for documentation"],
  ["fc00::/7", "a private address"],
  ["fe80::/10", "a link-local address"],
  ["fec0::/10", "a site-local address"],
  ["ff00::/8", "a multicast address"],
];

const FORBIDDEN = LISTED.map(([text, why]) => [mustParsePrefix(text), why] as const);
/** All IPv6 addresses that were ever allocated for the Internet. */
const GLOBAL_UNICAST = mustParsePrefix("2000::/3");

function mustParsePrefix(text: string): Prefix {
  const prefix = parsePrefix(text);
  if (prefix === null) throw new Error(`not a prefix: ${text}`);
  return prefix;
}

function contains({ bytes, bits }: Prefix, address: Uint8Array): boolean {
  if (bytes.length !== address.length) return false;
  const whole = bits >> 3;
  for (let at = 0; at < whole; at++) if (bytes[at] !== address[at]) return false;
  const mask = (0xff00 >> (bits & 7)) & 0xff;
  return mask === 0 || (bytes[whole]! & mask) === (address[whole]! & mask);
}

function parseV4(text: string): Uint8Array | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) return null;
  return Uint8Array.from(parts, Number);
}

function parseV6(text: string): Uint8Array | null {
  const dotted = /^(.*:)([^:]*\..*)$/.exec(text);
  const tail = dotted === null ? null : parseV4(dotted[2]!);
  if (dotted !== null && tail === null) return null;
  const halves = (tail === null ? text : `${dotted![1]}${hexGroup(tail, 0)}:${hexGroup(tail, 2)}`).split("::");
  if (halves.length > 2) return null;
  const [front = [], back = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - front.length - back.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...front, ...Array.from({ length: missing }, () => "0"), ...back];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return Uint8Array.from(groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]));
}

function hexGroup(bytes: Uint8Array, at: number): string {
  return ((bytes[at]! << 8) | bytes[at + 1]!).toString(16);
}
