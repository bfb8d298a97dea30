// The one line to paste on another machine, which installs the command line from the gateway and makes it a device.
// The token stands in it as a variable that only `sh` gets: unlike an argument, no other user of that machine can see it
// in the list of processes, and unlike a file, nothing is left to be removed. The line begins with a blank, so that shells
// which heed that keep it out of their history.

import { quoted } from "../lib/quote.ts";
import type { Address } from "./address.ts";

export function installLine(
  address: Address,
  { deviceId, username, token }: { deviceId: string; username: string; token: string },
): string {
  const script = `${httpOrigin(address)}/downloads/cli/install.sh`;
  return ` curl -fsSL ${quoted(script)} | GSV_DEVICE_TOKEN=${quoted(token)} sh -s -- --device ${quoted(deviceId)} --user ${quoted(username)}`;
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
