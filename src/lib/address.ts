// Network addresses as throttle keys: one person, one key. An IPv4-mapped IPv6 address counts as its IPv4 address, and an IPv6
// address by its /64, because one customer gets at least a /64.

export function addressKey(address: string): string {
  const bare = address
    .replace(/^\[|\]$/g, "")
    .replace(/%.*$/, "")
    .toLowerCase();
  if (!bare.includes(":")) return bare;
  const groups = expandIpv6(bare);
  if (groups === null) return bare;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

export function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").toLowerCase();
  if (bare === "localhost" || bare === "::1") return true;
  return /^127(?:\.\d{1,3}){3}$/.test(bare.replace(/^::ffff:/, ""));
}

function expandIpv6(address: string): number[] | null {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const text = dotted
    ? `${dotted[1]}${((Number(dotted[2]) << 8) | Number(dotted[3])).toString(16)}:${((Number(dotted[4]) << 8) | Number(dotted[5])).toString(16)}`
    : address;
  const [head = "", tail] = text.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const missing = 8 - front.length - back.length;
  if (tail === undefined ? missing !== 0 : missing < 0) return null;
  const groups = [...front, ...Array.from({ length: tail === undefined ? 0 : missing }, () => "0"), ...back].map((part) =>
    Number.parseInt(part, 16),
  );
  return groups.some((group) => Number.isNaN(group) || group > 0xffff) ? null : groups;
}
