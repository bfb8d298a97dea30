// The one line to paste on another machine, which installs the command line from the gateway and makes it a device.
// The token stands in it as a variable that only `sh` gets: unlike an argument, no other user of that machine can see it
// in the list of processes, and unlike a file, nothing is left to be removed. The line begins with a blank, so that shells
// which heed that keep it out of their history.

import { quoted } from "./quote.ts";

/** `origin` is how that machine reaches the gateway, as http or https. */
export function installLine(origin: string, { deviceId, username, token }: { deviceId: string; username: string; token: string }): string {
  const script = `${origin}/downloads/cli/install.sh`;
  return ` curl -fsSL ${quoted(script)} | GSV_DEVICE_TOKEN=${quoted(token)} sh -s -- --device ${quoted(deviceId)} --user ${quoted(username)}`;
}
