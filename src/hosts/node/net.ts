// The Net port over node:http: finds a host's addresses, has all of them judged, and connects to exactly those. There is
// no second lookup a name server could answer differently, no pool that would hand one user's connection to another, and
// no proxy from the environment. What may be reached is decided in kernel/egress, never here.

import { lookup as systemLookup, Resolver } from "node:dns/promises";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream/promises";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import { type Prefix, prefixOf } from "../../kernel/egress/address.ts";
import type { IsAllowed } from "../../kernel/egress/allow.ts";
import type { ByteSource } from "../../kernel/egress/body.ts";
import { type Answer, Egress } from "../../kernel/egress/egress.ts";
import type { Hop } from "../../kernel/egress/hop.ts";
import { EGRESS } from "../../kernel/egress/limits.ts";
import { checkAddresses, type Target } from "../../kernel/egress/target.ts";
import { type Timer, Watch } from "../../kernel/egress/watch.ts";
import { orAborted } from "../../lib/or-aborted.ts";
import { type Net, NetError } from "../../ports/net.ts";

export type NodeNetOptions = {
  isAllowed: IsAllowed;
  /** Instead of the machine's own name servers. */
  resolve?: (name: string, signal: AbortSignal) => Promise<string[]>;
  /** For tests, which may send nothing beyond this machine: where to connect in place of an address that was judged. */
  reach?: (address: string, port: number) => { address: string; port: number };
};

export function nodeNet(options: NodeNetOptions): Net {
  return new Egress({ isAllowed: options.isAllowed, timer, send: (hop, signal) => send(hop, signal, options) });
}

/** A and AAAA from the machine's name servers, or from those given as "address:port". */
export async function queryDns(name: string, signal: AbortSignal, servers?: readonly string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const failure = answers.find((answer) => answer.status === "rejected");
    if (addresses.length === 0 && failure !== undefined) throw failure.reason;
    return addresses;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const ATTEMPT_MS = 2_000;

const timer: Timer = (ms, fire) => {
  const handle = setTimeout(fire, ms);
  return () => clearTimeout(handle);
};

async function send(hop: Hop, signal: AbortSignal, options: NodeNetOptions): Promise<Answer> {
  const { target } = hop;
  const connecting = new Watch(timer, EGRESS.connectMs, () => late(target), signal);
  let socket: Socket;
  try {
    const addresses = await addressesOf(target, connecting.signal, options);
    checkAddresses(target, addresses, ownNetworks());
    socket = await dial(target, addresses, connecting.signal, options);
  } finally {
    connecting.end();
  }
  return talk(hop, socket, signal);
}

async function addressesOf(target: Target, signal: AbortSignal, options: NodeNetOptions): Promise<string[]> {
  if (target.address !== null) return [target.address];
  // The system's own lookup knows /etc/hosts and mDNS but holds one of the few threads that also serve files and
  // passwords for as long as a name server likes. So only names that root chose get it.
  const resolve = options.resolve ?? (target.isListed ? lookupSystem : queryDns);
  let addresses: string[];
  try {
    addresses = await orAborted(resolve(target.host, signal), signal);
  } catch (error) {
    if (error instanceof NetError) throw error;
    throw new NetError(
      "dns",
      `No address for ${target.host} (${codeOf(error)}): check the spelling of the host, or try again later`,
      error,
    );
  }
  if (addresses.length === 0) throw new NetError("dns", `No address for ${target.host}: check the spelling of the host`);
  return addresses;
}

async function lookupSystem(name: string): Promise<string[]> {
  return (await systemLookup(name, { all: true })).map(({ address }) => address);
}

/**
 * Public addresses that are nevertheless inside: the machine's own, at which services listen that a firewall hides from
 * everybody else, and the IPv6 neighbourhood, where each device of a home has a public address.
 */
function ownNetworks(): Prefix[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ address, family, cidr }) => {
      const prefix = prefixOf(family === "IPv6" ? (cidr ?? address) : address);
      // Some tunnels claim half the Internet as their network.
      return prefix === null ? [] : [{ ...prefix, bits: Math.max(prefix.bits, family === "IPv6" ? 48 : 32) }];
    }),
  );
}

/** A connection to one of the addresses, encrypted and with the host's identity checked where the URL says https. */
async function dial(target: Target, addresses: string[], signal: AbortSignal, options: NodeNetOptions): Promise<Socket> {
  const reached = addresses.map((address) => options.reach?.(address, target.port) ?? { address, port: target.port });
  const judged = reached.map(({ address }) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, done) => (all ? done(null, judged) : done(null, judged[0]!.address, judged[0]!.family));
  const tcp = connectTcp({
    // A name that is never looked up: `lookup` answers with what was judged, whatever it is asked.
    host: "judged.invalid",
    port: reached[0]!.port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    noDelay: true,
  });
  await ready(tcp, "connect", signal, (error) => {
    const advice = "check that the server is up and the port is right";
    return new NetError("connect", `Cannot connect to ${target.host} port ${target.port} (${codeOf(error)}): ${advice}`, error);
  });
  if (target.url.protocol !== "https:") return tcp;
  const tls = connectTls({
    socket: tcp,
    ALPNProtocols: ["http/1.1"],
    // An address is no server name; the certificate is compared with it all the same.
    ...(target.address === null ? { servername: target.host.replace(/\.$/, "") } : {}),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(target.address ?? target.host, certificate),
  });
  tls.once("close", () => tcp.destroy());
  await ready(tls, "secureConnect", signal, (error) => {
    const advice = "its certificate must be valid for this host";
    return new NetError("tls", `No safe connection to ${target.host} (${codeOf(error)}): ${advice}`, error);
  });
  return tls;
}

function ready(socket: Socket, event: string, signal: AbortSignal, failed: (error: Error) => NetError): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => socket.destroy(signal.reason as NetError);
    const over = () => signal.removeEventListener("abort", aborted);
    socket.once(event, () => {
      over();
      resolve();
    });
    socket.on("error", (error) => {
      over();
      socket.destroy();
      reject(error instanceof NetError ? error : failed(error));
    });
    socket.once("close", () => {
      over();
      reject(failed(new Error("closed")));
    });
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
  });
}

/** One exchange over a connection of its own; resolves with the head of the answer. */
function talk({ target, method, headers, body }: Hop, socket: Socket, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const aborted = () => fail(signal.reason as NetError);
    const fail = (error: Error) => {
      // A server may answer and hang up before it has read everything; then the answer counts.
      if (isAnswered) return;
      signal.removeEventListener("abort", aborted);
      request.destroy();
      socket.destroy();
      reject(error instanceof NetError ? error : unanswered(target, error));
    };
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path: `${target.url.pathname}${target.url.search}`,
      headers: { host: target.url.host, ...headers, ...(body instanceof Uint8Array ? { "content-length": body.length } : {}) },
      maxHeaderSize: EGRESS.headerBytes,
    });
    request.on("error", fail);
    request.once("response", (response) => {
      isAnswered = true;
      signal.removeEventListener("abort", aborted);
      resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: sourceOf(response, socket) });
    });
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    if (body === null || body instanceof Uint8Array) request.end(body ?? undefined);
    else pipeline(chunksOf(body), request).catch(fail);
  });
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const read = () =>
    reader.read().catch((error: unknown) => {
      throw new NetError("aborted", "The body of the request ended with an error, so it was not sent", error);
    });
  try {
    for (let part = await read(); !part.done; part = await read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function sourceOf(response: IncomingMessage, socket: Socket): ByteSource {
  // Heard by the iterator where one reads; without this, an error while nobody does would end the process.
  response.on("error", () => {});
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    async read() {
      const { done, value } = await chunks.next();
      return done ? null : value;
    },
    close() {
      response.destroy();
      socket.destroy();
    },
  };
}

function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    const value = rawHeaders[at + 1]!;
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === "set-cookie" ? "\n" : ", "}${value}`);
  }
  return Object.fromEntries(headers);
}

function late({ host, port }: Target): NetError {
  return new NetError("timeout", `No connection to ${host} port ${port} within ${EGRESS.connectMs / 1000} s: try again later`);
}

function unanswered({ host }: Target, error: Error): NetError {
  const code = codeOf(error);
  const what = code.startsWith("HPE_") ? "answered with something that is not HTTP" : "closed the connection without an answer";
  return new NetError("protocol", `${host} ${what} (${code}): check the URL, or try again later`, error);
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
