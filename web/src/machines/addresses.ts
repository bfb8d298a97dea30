// Which addresses of the gateway another machine can use, by the way on which it reaches the gateway. From facts of the gateway
// (sys.network) and the address that this browser uses.

import { isLoopback } from "../../../src/lib/address.ts";
import type { Result } from "../state/call.ts";

export type NetworkFacts = Result<"sys.network">;
/**
 * `same`: as this browser; `here`: the machine is the gateway's own; `local`: the same local network; `ssh`: forwarded by SSH; `name`: a
 * public name or address.
 */
export type Route = "same" | "here" | "local" | "tailscale" | "tunnel" | "ssh" | "name";

const DEFAULT_PORT = 8787;

/** The routes that make sense for this gateway, the most likely first. */
export function listRoutes({ listensOn }: NetworkFacts, pageOrigin: string): readonly Route[] {
  if (listensOn === "platform") return ["same"];
  const others: readonly Route[] = ["here", "local", "tailscale", "tunnel", "ssh", "name"];
  return isLocal(pageOrigin) ? others : ["same", ...others];
}

/** The addresses by which a machine reaches the gateway on this route, best first; none if the gateway must first be opened. */
export function addressesOf(route: Route, facts: NetworkFacts, pageOrigin: string): readonly string[] {
  const { listensOn, interfaces, origins } = facts;
  const tailnet = origins.filter((origin) => hostOf(origin).endsWith(".ts.net"));
  const at = (kind: "local" | "tailscale" | "public") =>
    listensOn === "network" ? interfaces.filter((one) => one.kind === kind).map(({ address }) => addressAt(facts, address)) : [];
  switch (route) {
    case "same":
      return [pageOrigin];
    case "here":
    case "ssh":
      return [isLocal(pageOrigin) ? pageOrigin : addressAt(facts, "127.0.0.1")];
    case "local":
      return at("local");
    case "tailscale":
      return [...tailnet, ...at("tailscale")];
    case "tunnel":
      return origins.filter(isTunnel);
    case "name":
      return [...origins.filter((origin) => !tailnet.includes(origin) && !isTunnel(origin)), ...at("public")];
  }
}

/** Every address at which the gateway answers, as far as it is known. */
export function listAddresses(facts: NetworkFacts, pageOrigin: string): readonly string[] {
  const routes: readonly Route[] = ["tailscale", "tunnel", "name", "local"];
  return [...new Set([pageOrigin, ...routes.flatMap((route) => addressesOf(route, facts, pageOrigin))])];
}

export function isLocal(origin: string): boolean {
  return isLoopback(hostOf(origin));
}

/** The address of the gateway's own port at a host. */
export function addressAt({ isEncrypted, port }: NetworkFacts, host: string): string {
  return `${isEncrypted ? "https" : "http"}://${host}:${port ?? DEFAULT_PORT}`;
}

/** The flag that keeps a gateway on its port when it is started anew; empty for the usual port. */
export function portFlag({ port }: NetworkFacts): string {
  return port === null || port === DEFAULT_PORT ? "" : ` --port ${port}`;
}

/** The origin that somebody typed, perhaps without a scheme; null if it is none. */
export function parseOrigin(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "" || /[\s@]/.test(trimmed)) return null;
  const url = /^[a-z]+:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  if (!URL.canParse(url)) return null;
  const { protocol, origin, hostname } = new URL(url);
  return (protocol === "https:" || protocol === "http:") && hostname !== "" ? origin : null;
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}

function isTunnel(origin: string): boolean {
  return /\.(trycloudflare\.com|ngrok\.io|ngrok-free\.app|ngrok\.app|loca\.lt)$/.test(hostOf(origin));
}
