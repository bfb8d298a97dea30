// The Net port over node:http. It resolves a host's addresses, checks all of them, and connects to exactly those. No second
// lookup could return other addresses, and no proxy comes from the environment. Connections are kept only for callers who ask for it,
// one set per origin and credential (kept-connections.ts), and checked again before each use. kernel/egress decides which hosts may be
// reached; this file never does.

import { lookup as systemLookup, Resolver } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { pipeline } from "node:stream/promises";
import { checkServerIdentity, connect as connectTls } from "node:tls";
import { type Prefix, parsePrefix } from "../../kernel/egress/address.ts";
import type { IsAllowed } from "../../kernel/egress/allow.ts";
import type { ByteSource } from "../../kernel/egress/body.ts";
import { type EgressResponse, Egress } from "../../kernel/egress/egress.ts";
import type { Hop } from "../../kernel/egress/hop.ts";
import { EGRESS } from "../../kernel/egress/limits.ts";
import { checkAddresses, type UrlTarget } from "../../kernel/egress/target.ts";
import { type Timer, Deadline } from "../../kernel/egress/watch.ts";
import { rejectOnAbort } from "../../lib/or-aborted.ts";
import { type Net, NetError } from "../../ports/net.ts";
import { type ConnectingAgent, KeptConnections } from "./kept-connections.ts";

export type NodeNetOptions = {
  isAllowed: IsAllowed;
  /** Replaces the machine's own name servers. */
  resolve?: (name: string, signal: AbortSignal) => Promise<string[]>;
  /** For tests, which may send nothing beyond this machine: where to connect instead of a checked address. */
  mapEndpoint?: (address: string, port: number) => { address: string; port: number };
};

export function makeNodeNet(options: NodeNetOptions): Net {
  const kept = new KeptConnections();
  const send = async (hop: Hop, signal: AbortSignal, keepAliveFor?: string): Promise<EgressResponse> => {
    if (keepAliveFor === undefined) return exchange(hop, { socket: await connectChecked(hop.target, signal, options) }, signal);
    const { agent, addresses } = kept.of(hop.target, keepAliveFor, (known) => checkAddresses(hop.target, known, listOwnNetworks()));
    const connect = () => connectChecked(hop.target, signal, options, (found) => found.forEach((address) => addresses.add(address)));
    return exchange(hop, { agent, connect }, signal);
  };
  return new Egress({ isAllowed: options.isAllowed, timer, send });
}

/** Queries A and AAAA from the machine's name servers, or from those given as "address:port". */
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

/** A new connection to an address that was checked. `onAddresses` receives all of them. */
async function connectChecked(
  target: UrlTarget,
  signal: AbortSignal,
  options: NodeNetOptions,
  onAddresses?: (addresses: readonly string[]) => void,
): Promise<Socket> {
  const connecting = new Deadline(timer, EGRESS.connectMs, () => connectTimeoutError(target), signal);
  try {
    const addresses = await resolveAddresses(target, connecting.signal, options);
    if (!target.isListed) checkAddresses(target, addresses, listOwnNetworks());
    const socket = await connect(target, addresses, connecting.signal, options);
    onAddresses?.(addresses);
    return socket;
  } finally {
    connecting.end();
  }
}

async function resolveAddresses(target: UrlTarget, signal: AbortSignal, options: NodeNetOptions): Promise<string[]> {
  if (target.address !== null) return [target.address];
  // The system lookup knows /etc/hosts and mDNS, but a slow name server can make it block one of the few threads that also serve
  // files and passwords. So it is used only for names that root listed.
  const resolve = options.resolve ?? (target.isListed ? lookupSystem : queryDns);
  let addresses: string[];
  try {
    addresses = await rejectOnAbort(resolve(target.host, signal), signal);
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

/** Listing them takes longer than a small request, and they seldom change. */
const OWN_NETWORKS_MS = 2_000;
let ownNetworks: { until: number; networks: readonly Prefix[] } = { until: 0, networks: [] };

function listOwnNetworks(): readonly Prefix[] {
  const now = performance.now();
  if (now >= ownNetworks.until) ownNetworks = { until: now + OWN_NETWORKS_MS, networks: readOwnNetworks() };
  return ownNetworks.networks;
}

/**
 * Public addresses that are nevertheless internal: the machine's own, whose services a firewall may hide from everybody else, and
 * its IPv6 network, where each device of a home has a public address.
 */
function readOwnNetworks(): Prefix[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ address, family, cidr }) => {
      const prefix = parsePrefix(family === "IPv6" ? (cidr ?? address) : address);
      // Some tunnels claim half the Internet as their network.
      return prefix === null ? [] : [{ ...prefix, bits: Math.max(prefix.bits, family === "IPv6" ? 48 : 32) }];
    }),
  );
}

/** Connects to one of the addresses; for https, encrypts the connection and checks the host's identity. */
async function connect(target: UrlTarget, addresses: string[], signal: AbortSignal, options: NodeNetOptions): Promise<Socket> {
  const endpoints = addresses.map((address) => options.mapEndpoint?.(address, target.port) ?? { address, port: target.port });
  const checked = endpoints.map(({ address }) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, checked) : done(null, checked[0]!.address, checked[0]!.family);
  const tcp = connectTcp({
    // This name is never resolved: `lookup` always returns the checked addresses.
    host: "judged.invalid",
    port: endpoints[0]!.port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    noDelay: true,
  });
  await waitForEvent(tcp, "connect", signal, (error) => {
    const advice = "check that the server is up and the port is right";
    return new NetError("connect", `Cannot connect to ${target.host} port ${target.port} (${codeOf(error)}): ${advice}`, error);
  });
  if (target.url.protocol !== "https:") return tcp;
  const tls = connectTls({
    socket: tcp,
    ALPNProtocols: ["http/1.1"],
    // An IP address cannot be a server name, but the certificate is still checked against it.
    ...(target.address === null ? { servername: target.host.replace(/\.$/, "") } : {}),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(target.address ?? target.host, certificate),
  });
  tls.once("close", () => tcp.destroy());
  await waitForEvent(tls, "secureConnect", signal, (error) => {
    const advice = "its certificate must be valid for this host";
    return new NetError("tls", `No secure connection to ${target.host} (${codeOf(error)}): ${advice}`, error);
  });
  return tls;
}

function waitForEvent(socket: Socket, event: string, signal: AbortSignal, toNetError: (error: Error) => NetError): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => socket.destroy(signal.reason as NetError);
    const stopListening = () => signal.removeEventListener("abort", onAbort);
    socket.once(event, () => {
      stopListening();
      resolve();
    });
    socket.on("error", (error) => {
      stopListening();
      socket.destroy();
      reject(error instanceof NetError ? error : toNetError(error));
    });
    socket.once("close", () => {
      stopListening();
      reject(toNetError(new Error("closed")));
    });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** A connection of its own, or one that the agent keeps, or makes with `connect`. */
type Via = { socket: Socket } | { agent: ConnectingAgent; connect: () => Promise<Socket> };

/** One exchange; resolves with status, headers and the body as a source. */
function exchange({ target, method, headers, body }: Hop, via: Via, signal: AbortSignal): Promise<EgressResponse> {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    let request: ClientRequest;
    const onAbort = () => fail(signal.reason as NetError);
    const fail = (error: Error) => {
      // A server may answer and close the connection before it has read everything; then its answer counts.
      if (isAnswered) return;
      // The server closed the kept connection, most likely before the request arrived. Callers who allow kept connections allow a repeat.
      if (request.reusedSocket && !signal.aborted && STALE.has(codeOf(error)) && (body === null || body instanceof Uint8Array))
        return start();
      signal.removeEventListener("abort", onAbort);
      request.destroy();
      if ("socket" in via) via.socket.destroy();
      reject(error instanceof NetError ? error : protocolError(target, error));
    };
    const start = () => {
      if ("agent" in via) via.agent.connect = via.connect;
      request = httpRequest({
        ...("socket" in via ? { createConnection: () => via.socket } : { agent: via.agent }),
        method,
        path: `${target.url.pathname}${target.url.search}`,
        headers: { host: target.url.host, ...headers, ...(body instanceof Uint8Array ? { "content-length": body.length } : {}) },
        maxHeaderSize: EGRESS.headerBytes,
      });
      request.on("error", fail);
      request.once("response", (response) => {
        isAnswered = true;
        signal.removeEventListener("abort", onAbort);
        resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: toByteSource(response) });
      });
      if (body === null || body instanceof Uint8Array) request.end(body ?? undefined);
      else pipeline(chunksOf(body), request).catch(fail);
    };
    if (signal.aborted) {
      if ("socket" in via) via.socket.destroy();
      return reject(signal.reason as NetError);
    }
    signal.addEventListener("abort", onAbort, { once: true });
    start();
  });
}

/** How a kept connection fails that the server has closed. */
const STALE = new Set(["ECONNRESET", "EPIPE"]);

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const read = () =>
    reader.read().catch((error: unknown) => {
      throw new NetError("aborted", "Reading the request's body failed, so the request was not sent", error);
    });
  try {
    for (let part = await read(); !part.done; part = await read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function toByteSource(response: IncomingMessage): ByteSource {
  const { socket } = response;
  // The iterator reports errors to its reader; without this listener, an error while nobody reads would end the process.
  response.on("error", () => {});
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let isRead = false;
  return {
    async read() {
      const { done, value } = await chunks.next();
      isRead ||= done === true;
      return done ? null : value;
    },
    close() {
      // A connection whose answer was read to the end may be kept; node:http closes it otherwise.
      if (isRead) return;
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

function connectTimeoutError({ host, port }: UrlTarget): NetError {
  return new NetError("timeout", `No connection to ${host} port ${port} within ${EGRESS.connectMs / 1000} s: try again later`);
}

function protocolError({ host }: UrlTarget, error: Error): NetError {
  const code = codeOf(error);
  const what = code.startsWith("HPE_") ? "answered with something that is not HTTP" : "closed the connection without an answer";
  return new NetError("protocol", `${host} ${what} (${code}): check the URL, or try again later`, error);
}

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
