// The line of src/lib/install-line.ts for the gateway that this command line talks to, and what is worth knowing of it.

import { installLine as lineFor } from "../lib/install-line.ts";
import type { Address } from "./address.ts";

export function installLine(address: Address, device: { deviceId: string; username: string; token: string }): string {
  return lineFor(httpOrigin(address), device);
}

/** What is worth knowing of an address before another machine uses it. */
export function reachRemark(address: Address): string | null {
  if (address.isLocal)
    return `${httpOrigin(address)} is this machine alone. For another one say how it reaches the gateway (docs/guides/remote-access.md): gsv --url URL token create ...`;
  if (!address.isEncrypted)
    return `${httpOrigin(address)} is not encrypted; unless the network itself is (such as a VPN), others can read the token and change what is installed`;
  return null;
}

function httpOrigin({ origin }: Address): string {
  return origin.replace(/^ws/, "http");
}
