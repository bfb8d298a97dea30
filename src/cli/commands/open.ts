// gsv open: opens a place of the web desktop in the browser of this machine. The address never contains a credential.

import { spawn } from "node:child_process";
import { isDesktopPath } from "../../protocol/desktop-path.ts";
import { resolveConversationId, resolvePid } from "../chat/processes.ts";
import { fetchHealth } from "../session/health.ts";
import { findCredential, type Globals, resolveGateway, withClient } from "../session/session.ts";
import { findSimilar } from "../terminal/suggest.ts";
import { Problem } from "../terminal/problem.ts";
import { printJson, printNote, printText } from "../terminal/terminal.ts";

/** Screens by the first segment of their path; web/src/screens/screens.ts has them all. */
export const PLACES = ["home", "chat", "approvals", "machines", "schedules", "notifications", "integrations", "settings"] as const;

export async function open(flags: Globals & { print?: boolean }, words: readonly string[]): Promise<void> {
  const gateway = resolveGateway(flags);
  await fetchHealth(gateway.address);
  const url = new URL(gateway.address.healthUrl);
  url.pathname = await findPath(flags, words.join(" ").trim(), () => findCredential(flags, gateway) !== null);
  const opener = flags.print === true ? null : chooseOpener(process.platform, process.env);
  if (flags.json) return printJson({ url: url.href });
  // A browser that cannot be started is no failure: the address is what was asked for.
  if (opener !== null && (await start(opener, url.href))) return printNote(`Opened ${url.href} in your browser.`);
  printText(url.href);
  if (opener !== null) printNote("gsv: no browser could be started here: open the address above in one");
}

/** A screen, a page of one, a machine, or a conversation of the user's personal agent. */
async function findPath(flags: Globals, place: string, mayAsk: () => boolean): Promise<string> {
  const [first = "", ...rest] = place.replace(/^\/+/, "").split("/");
  if (first === "" || first === "home") return "/";
  if (PLACES.some((name) => name === first)) {
    const path = `/${[first, ...rest].map(encodeURIComponent).join("/")}`;
    if (isDesktopPath(path)) return path;
  }
  const unknown = `No screen, machine or conversation is called ${place}`;
  // Short names are similar to too many.
  const [similar] = place.length < 5 ? [] : findSimilar(place, PLACES);
  const advice = similar === undefined ? "gsv open --help lists the screens." : `Did you mean gsv open ${similar}?`;
  if (!mayAsk()) throw new Problem(`${unknown}. ${advice} Machines and conversations are found once you have logged in: gsv auth login`);
  return withClient(flags, async (client) => {
    const { devices } = await client.call("sys.device.list", {});
    if (devices.some(({ deviceId }) => deviceId === place)) return `/machines/${encodeURIComponent(place)}`;
    const pid = await resolvePid(client);
    const id = await resolveConversationId(client, pid, place).catch(() => null);
    if (id === null) throw new Problem(`${unknown}. ${advice}`);
    return `/chat/${encodeURIComponent(pid)}/${encodeURIComponent(id)}`;
  });
}

/** The program that opens an address; null over SSH, and where no screen is. BROWSER is the user's own choice. */
export function chooseOpener(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] | null {
  if (env.SSH_CONNECTION || env.SSH_TTY) return null;
  if (env.BROWSER) return [env.BROWSER];
  if (platform === "darwin") return ["open"];
  // The first argument of start is the title of a window.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? ["xdg-open"] : null;
}

/** Whether the program could be started and did not fail at once. */
function start([program = "", ...args]: readonly string[], url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
    // A browser that keeps running has started.
    const isRunning = setTimeout(() => resolve(true), 2_000);
    child.once("exit", () => clearTimeout(isRunning));
    child.unref();
  });
}
