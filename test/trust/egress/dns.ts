// A small name server on loopback, as hostile as the test wants: its answers may change with every query.

import { createSocket } from "node:dgram";

/** Addresses of both families for the n-th query (from 0) of one type; or an alias; or null for no answer. */
export type Zone = Record<string, (asked: number) => string[] | { alias: string } | null>;

export type NameServer = { address: string; asked(name: string, type: "A" | "AAAA"): number; close(): void };

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;
const NO_SUCH_NAME = 3;

export async function startNameServer(zone: Zone): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket("udp4");
  socket.on("message", (query, peer) => {
    const { name, type, end } = questionOf(query);
    const key = `${name} ${type}`;
    const count = asked.get(key) ?? 0;
    asked.set(key, count + 1);
    const records = recordsOf(zone, name, type, count);
    if (records === null) return;
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (zone[name] === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (name, type) => asked.get(`${name} ${TYPES[type]}`) ?? 0,
    close: () => socket.close(),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function recordsOf(zone: Zone, name: string, type: number, asked: number): Buffer[] | null {
  const answer = zone[name]?.(asked) ?? (zone[name] === undefined ? [] : null);
  if (answer === null) return null;
  if ("alias" in answer) {
    const rest = recordsOf(zone, answer.alias, type, asked) ?? [];
    return [record(name, TYPES.CNAME, nameBytes(answer.alias)), ...rest];
  }
  const isWanted = (address: string) => address.includes(":") === (type === TYPES.AAAA);
  return type === TYPES.A || type === TYPES.AAAA ? answer.filter(isWanted).map((address) => record(name, type, addressBytes(address))) : [];
}

/** With a TTL of zero, as rebinding needs. */
function record(name: string, type: number, data: Buffer): Buffer {
  const middle = Buffer.alloc(10);
  middle.writeUInt16BE(type, 0);
  middle.writeUInt16BE(1, 2);
  middle.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameBytes(name), middle, data]);
}

function nameBytes(name: string): Buffer {
  return Buffer.concat([...name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label, "latin1")])), Buffer.from([0])]);
}

function addressBytes(address: string): Buffer {
  if (!address.includes(":")) return Buffer.from(address.split(".").map(Number));
  // The URL parser spells every IPv6 address without dots.
  const [front = "", back = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const groups = (half: string) => (half === "" ? [] : half.split(":"));
  const zeros = Array.from({ length: 8 - groups(front).length - groups(back).length }, () => "0");
  return Buffer.from(
    [...groups(front), ...zeros, ...groups(back)].flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  );
}
