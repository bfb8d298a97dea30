// How other machines can reach this process: where it listens, and the addresses of this machine's network interfaces. Virtual networks of
// containers and virtual machines are left out, because nothing outside this machine can reach them.

import { networkInterfaces } from "node:os";
import { isLoopback } from "../../lib/address.ts";
import type { InterfaceAddress, NetworkFacts } from "../../ports/vitals.ts";
import { isWildcardHost, type UpOptions } from "./options.ts";

const VIRTUAL = /^(docker|br-|veth|virbr|vboxnet|vmnet|vnic|cni|flannel|podman|lxc|vEthernet)/;
const LOCAL = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/;
/** Tailscale numbers its machines from 100.64.0.0/10, which carriers use for their customers. */
const TAILSCALE = /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
/** Addresses that a machine gives itself when no network does. */
const LINK_LOCAL = /^169\.254\./;

export function readNetwork({ host, tls, origins }: UpOptions, port: number): NetworkFacts {
  const listensOn = isLoopback(host) ? "loopback" : "network";
  const isOwn = (address: string) => isLoopback(host) || isWildcardHost(host) || host === address;
  return {
    listensOn,
    port,
    isEncrypted: tls !== null,
    origins: origins.filter((origin) => !isLoopback(new URL(origin).hostname)),
    interfaces: listInterfaces().filter(({ address }) => isOwn(address)),
  };
}

function listInterfaces(): InterfaceAddress[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ family, internal, address }) => family === "IPv4" && !internal && !VIRTUAL.test(name) && !LINK_LOCAL.test(address))
      .map(({ address }) => ({ address, kind: kindOf(address) })),
  );
}

function kindOf(address: string): InterfaceAddress["kind"] {
  if (TAILSCALE.test(address)) return "tailscale";
  return LOCAL.test(address) ? "local" : "public";
}
