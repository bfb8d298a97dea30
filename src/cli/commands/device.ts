// gsv device: machines that are targets. `run` makes this one a target for as long as it runs.

import { hostname } from "node:os";
import { resolve } from "node:path";
import { CallError } from "../../client/client.ts";
import { relative } from "../moments.ts";
import { Problem } from "../problem.ts";
import { type Globals, locate, withClient } from "../session.ts";
import { socketConstructor } from "../socket.ts";
import { note, say, sayJson, sayTable } from "../terminal.ts";

const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;

export async function deviceList(flags: Globals & { all?: boolean }): Promise<void> {
  const { devices } = await withClient(flags, (client) => client.call("sys.device.list", { includeOffline: flags.all === true }));
  if (flags.json) return sayJson({ devices });
  sayTable(
    ["DEVICE", "STATE", "PLATFORM", "SEEN", "DESCRIPTION"],
    devices.map((one) => [
      one.deviceId,
      one.online ? "online" : "offline",
      one.platform || "-",
      relative(one.lastSeenAt, "-"),
      one.description || "-",
    ]),
  );
}

export async function deviceDescribe(flags: Globals, [deviceId = "", ...words]: readonly string[]): Promise<void> {
  const { device } = await withClient(flags, (client) => client.call("sys.device.update", { deviceId, description: words.join(" ") }));
  if (device === null) throw new Problem(`You have no device ${deviceId}: gsv device list --all shows those you have`);
  if (flags.json) return sayJson({ device });
  say(`${device.deviceId}: ${device.description || "(no description)"}`);
}

export async function deviceRemove(flags: Globals, [deviceId = ""]: readonly string[]): Promise<void> {
  const { removed } = await withClient(flags, (client) => client.call("sys.device.remove", { deviceId }));
  if (flags.json) return sayJson({ removed });
  if (!removed) throw new Problem(`You have no device ${deviceId}: gsv device list --all shows those you have`);
  say(`Forgot ${deviceId}. Its token still works: gsv token list, gsv token revoke ID.`);
}

/** Stays until it is told to go, and comes back whenever the gateway does. */
export async function deviceRun(flags: Globals & { id?: string; workspace?: string }): Promise<void> {
  const { address, saved } = locate(flags);
  const username = flags.user || saved.username;
  const token = flags.token ?? process.env.GSV_DEVICE_TOKEN;
  if (!token) throw new Problem("A device needs a token of its own: gsv token create --device ID prints one; give it as GSV_DEVICE_TOKEN");
  if (username === undefined) throw new Problem("Whose device is it? Add --user NAME");
  const deviceId = flags.id ?? `node-${hostname()}`;
  const workspace = resolve(flags.workspace ?? ".");
  const { startDevice } = await import("../../device/device.ts");
  const WebSocket = await socketConstructor();
  const log = (message: string, fields: { reason?: string | undefined } = {}) => {
    if (message !== "call") note(`gsv: ${message}${fields.reason ? `: ${fields.reason}` : ""}`);
  };
  for (let waitMs = RETRY_MS_MIN; ; waitMs = Math.min(waitMs * 2, RETRY_MS_MAX)) {
    try {
      const { client } = await startDevice({ url: address.url, auth: { username, token }, deviceId, workspace, WebSocket, log });
      say(`${deviceId} is connected to ${address.origin}; relative paths begin at ${workspace}. Ctrl-C ends it.`);
      waitMs = RETRY_MS_MIN;
      const reason = await new Promise<Error | null>((end) => {
        const told = client.onStatus;
        client.onStatus = (status, why) => {
          told(status, why);
          if (status === "closed") end(why);
        };
      });
      if (/Replaced by newer/.test(reason?.message ?? ""))
        throw new Problem(`Another daemon has connected as ${deviceId}: give one of them another --id`);
    } catch (error) {
      if (error instanceof Problem) throw error;
      // Whatever it is, it may be mended while this runs: a token made anew, a gateway started again.
      note(`gsv: ${error instanceof CallError ? `refused: ${error.message} (${error.code})` : (error as Error).message}; trying again`);
    }
    await new Promise((done) => setTimeout(done, waitMs * (0.5 + Math.random())));
  }
}
