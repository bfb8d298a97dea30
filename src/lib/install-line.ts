// The line to paste on another machine; it installs the command line from the gateway and makes that machine a device. The token
// is an environment variable of `sh` alone: unlike an argument, it is not visible in the list of processes, and unlike a file,
// nothing remains to be deleted. The line begins with a space, which keeps it out of the history of shells that honour that.

import { isLoopback } from "./address.ts";
import { shellQuote } from "./quote.ts";

/** How long the line is valid: a machine that has not connected by then needs a new one. */
export const LINE_WORKS_MS = 60 * 60 * 1000;

export type NewDevice = { deviceId: string; username: string; token: string };

/** `origin` is http or https, as the other machine reaches the gateway. */
export function installLine(origin: string, { deviceId, username, token }: NewDevice): string {
  const script = `${origin}/downloads/cli/install.sh`;
  return ` curl -fsSL ${shellQuote(script)} | GSV_DEVICE_TOKEN=${shellQuote(token)} sh -s -- --device ${shellQuote(deviceId)} --user ${shellQuote(username)}`;
}

/** The same for PowerShell. */
export function installLineWindows(origin: string, { deviceId, username, token }: NewDevice): string {
  const script = `${origin}/downloads/cli/install.ps1`;
  const run = `& ([scriptblock]::Create((irm ${quoteForPowerShell(script)}))) -Device ${quoteForPowerShell(deviceId)} -User ${quoteForPowerShell(username)}`;
  return ` $env:GSV_DEVICE_TOKEN=${quoteForPowerShell(token)}; ${run}; Remove-Item Env:GSV_DEVICE_TOKEN`;
}

/** A warning about an address before another machine uses it; `hint` says how to name a better one. */
export function addressWarning(origin: string, hint: string): string | null {
  const { hostname, protocol } = new URL(origin);
  if (isLoopback(hostname))
    return `Only this machine can reach ${origin}. For another machine, give an address it can reach (docs/guides/remote-access.md): ${hint}`;
  if (protocol !== "https:")
    return `${origin} is not encrypted; unless the network itself is encrypted (such as a VPN), others can read the token and change what is installed`;
  return null;
}

/** PowerShell treats several kinds of single quotes alike; a doubled quote stands for itself. */
function quoteForPowerShell(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, "$&$&")}'`;
}
