// gsv doctor: checks for common problems and says what to do about them. It changes nothing and asks the user nothing.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../client/client.ts";
import { homePath, isAlive, readRunningGateway, type RunningGateway } from "../../hosts/node/running.ts";
import { isLoopback } from "../../lib/address.ts";
import { VERSION } from "../../protocol/version.ts";
import { type Health, fetchHealth } from "../session/health.ts";
import { formatRelativeTime, formatDuration } from "../terminal/durations.ts";
import { Problem } from "../terminal/problem.ts";
import { findServiceManager } from "../service/service.ts";
import { authenticate, type Globals, findCredential, resolveGateway, openClient, type GatewayAccess } from "../session/session.ts";
import { type Mark, printJson, printMark } from "../terminal/terminal.ts";
import { resolveThisDevice } from "../device/this-device.ts";

type DoctorFlags = Globals & { model?: boolean };
type Finding = { mark: Mark; text: string };

const NODE_MAJOR = 20;
const SKEW_MS = 30_000;

export async function doctor(globals: DoctorFlags): Promise<number> {
  const place = resolveGateway(globals);
  const state = await fetchHealth(place.address).catch((error: unknown) => {
    if (error instanceof Problem) return error;
    throw error;
  });
  const findings = [
    checkNodeVersion(),
    checkConfigMode(place),
    ...(state instanceof Problem ? [fail(state.message)] : checkGateway(place, state)),
    ...checkEncryption(place),
    ...checkLocalGateway(place),
    ...(await checkOwnDevice()),
    ...(state instanceof Problem || state.setupMode ? [] : await checkAccount(globals, place)),
  ];
  if (globals.json) printJson({ findings });
  else for (const { mark, text } of findings) printMark(mark, text);
  return findings.some(({ mark }) => mark === "fail") ? 1 : 0;
}

function checkNodeVersion(): Finding {
  const { node } = process.versions;
  if (Number(node.split(".")[0]) < NODE_MAJOR) return fail(`Node ${node} is too old: install Node ${NODE_MAJOR} or newer`);
  return ok(`Node ${node} (if it is too old for the gateway, the gateway installs its own)`);
}

function checkConfigMode({ config: { file, looseMode } }: GatewayAccess): Finding {
  if (looseMode !== null) return fail(`${file} has mode ${looseMode}, so tokens in it are not used. Run: chmod 600 ${file}`);
  return ok(permissionBits(file) === null ? `No config file yet (${file})` : `${file} is private`);
}

function checkGateway({ address }: GatewayAccess, { version, setupMode, startedAt, skewMs }: Health): Finding[] {
  return [
    ok(`The gateway at ${address.url} answers; up for ${formatDuration(Date.now() - startedAt)}`),
    version === VERSION
      ? ok(`Gateway and CLI are both version ${VERSION}`)
      : warn(`The gateway is version ${version} and this CLI ${VERSION}: update the older one`),
    ...(setupMode
      ? [warn("The gateway has no user yet: unless it requires a setup code, the first to reach it becomes its owner. Run: gsv auth setup")]
      : []),
    ...(skewMs === null ? [] : [checkClock(skewMs)]),
  ];
}

function checkClock(skewMs: number): Finding {
  if (Math.abs(skewMs) <= SKEW_MS) return ok("The clocks of the gateway and this machine agree");
  const which = skewMs > 0 ? "ahead of" : "behind";
  return warn(
    `The gateway's clock is ${formatDuration(Math.abs(skewMs))} ${which} this machine's, so times will be wrong: synchronize both clocks (NTP)`,
  );
}

function checkEncryption({ address }: GatewayAccess): Finding[] {
  if (address.isLocal || address.isEncrypted) return [];
  return [warn(`${address.origin} is not encrypted. Unless the network is (such as a VPN), use TLS: see docs/guides/remote-access.md`)];
}

/** The gateway whose data is on this machine, if there is one. */
function checkLocalGateway({ address }: GatewayAccess): Finding[] {
  const home = homePath(undefined, process.env);
  if (permissionBits(home) === null) return address.isLocal ? [ok(`No data directory on this machine yet (${home})`)] : [];
  const readable = ["", "kernel.db", "secret.key", "gateway.json"]
    .map((name) => join(home, name))
    .filter((path) => ((permissionBits(path) ?? 0) & 0o077) !== 0);
  const modes = readable.map((path) => fail(`${path} can be read by other users. Run: chmod go= ${path}`));
  const running = readRunningGateway(home);
  return [
    ...(modes.length > 0 ? modes : [ok(`The data directory ${home} is private`)]),
    ...(running === null ? [ok(`No gateway runs with data directory ${home}`)] : checkRunningGateway(running, home)),
  ];
}

function checkRunningGateway(running: RunningGateway, home: string): Finding[] {
  const { pid, url, startedAt, version } = running;
  if (!isAlive(running))
    return [
      warn(
        `The gateway with data directory ${home} (process ${pid}) did not shut down cleanly. No data is lost; to start it again: gsv up`,
      ),
    ];
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const isExposed = parsed !== null && parsed.protocol === "http:" && !isLoopback(parsed.hostname);
  return [
    ok(
      `A gateway runs with data directory ${home}: process ${pid}, ${url}, version ${version}, started ${formatRelativeTime(startedAt, "some time ago")}`,
    ),
    ...(isExposed ? [warn(`It accepts connections from other machines without TLS at ${url}: see docs/guides/remote-access.md`)] : []),
  ];
}

/** This machine as a device, if it is configured as one. */
async function checkOwnDevice(): Promise<Finding[]> {
  const { stored, config, deviceId, workspace, address, token, username } = resolveThisDevice({});
  if (Object.keys(stored).length === 0) return [];
  const manager = await findServiceManager();
  const state = "none" in manager ? null : await manager.state("gsvd");
  return [
    ...(token === undefined && config.looseMode === null
      ? [fail(`Device ${deviceId} (this machine) has no token. To create one: gsv token create --device ${deviceId}`)]
      : []),
    ...(username === undefined
      ? [fail(`Device ${deviceId} (this machine) has no owner set. Run: gsv config --local set node.username NAME`)]
      : []),
    ...(permissionBits(workspace) === null
      ? [fail(`The workspace of ${deviceId} does not exist: ${workspace}. Create it, or set node.workspace`)]
      : []),
    ...(state?.isInstalled && !state.isRunning ? [warn(`The service of ${deviceId} is not running. Run: gsv device start`)] : []),
    ok(`This machine is the device ${deviceId} at ${address.origin}${state?.isRunning ? "; its service is running" : ""}`),
  ];
}

async function checkAccount(globals: DoctorFlags, place: GatewayAccess): Promise<Finding[]> {
  let client: Client;
  try {
    const known = globals.password === undefined ? findCredential(globals, place) : null;
    if (known === null && globals.password === undefined)
      return [warn("Not logged in, so the gateway's own checks were skipped. Run: gsv auth login")];
    client = known === null ? await authenticate(globals) : await openClient(place.address, known.auth);
  } catch (error) {
    return [warn(`The gateway's own checks were skipped: ${error instanceof Error ? error.message : String(error)}. Run: gsv auth login`)];
  }
  try {
    const { username } = client.session.identity.process;
    return [ok(`Logged in as ${username}`), ...(await gatewayFindings(client, globals.model === true))];
  } catch (error) {
    return [warn(`The gateway's own checks failed: ${error instanceof Error ? error.message : String(error)}`)];
  } finally {
    client.close();
  }
}

/** The gateway's own findings about its host, its devices and its agents. */
async function gatewayFindings(client: Client, tryModel: boolean): Promise<Finding[]> {
  const { checks } = await client.call("sys.doctor", { tryModel, clientNow: Date.now() }, { timeoutMs: 120_000 });
  return checks.map(({ state, title, says, next }) => ({ mark: state, text: `${title}: ${says}${next === null ? "" : ` ${next}`}` }));
}

/** Permission bits; null if the path does not exist, 0 on systems without permission bits. */
function permissionBits(path: string): number | null {
  try {
    const { mode } = statSync(path);
    return process.platform === "win32" ? 0 : mode & 0o777;
  } catch {
    return null;
  }
}

function ok(text: string): Finding {
  return { mark: "ok", text };
}

function warn(text: string): Finding {
  return { mark: "warn", text };
}

function fail(text: string): Finding {
  return { mark: "fail", text };
}
