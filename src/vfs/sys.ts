// /sys: the live kernel as files. Reading shows what the caller may see; writing a configuration file calls sys.config.set
// through the gate.

import { type FileEntry, FileError } from "../hardware/filesystem.ts";
import { SysError } from "../lib/sys-error.ts";
import { type Mount, makeSyntheticMount, type Who } from "./mount.ts";

export type SysSources = {
  /** Keys below a prefix that this caller may read, sorted. */
  configKeys(who: Who, prefix: string): string[];
  /** Undefined if there is no value that this caller may read. */
  configValue(who: Who, key: string): string | undefined;
  capabilities(): { gid: number; capability: string }[];
  devices(who: Who): DeviceFiles[];
};

export type DeviceFiles = {
  deviceId: string;
  description: string;
  implements: string[];
  owner: number;
  platform: string;
  status: "online" | "offline";
  version: string;
};

const TOP = ["capabilities", "config", "devices", "users"];

export function makeSysMount(sources: SysSources): Mount {
  return makeSyntheticMount("/sys", {
    async lookUp(who, names) {
      const [top, ...rest] = names;
      switch (top) {
        case undefined:
          return TOP;
        case "config":
        case "users":
          return lookUpConfig(sources, who, names);
        case "capabilities":
          return lookUpCapabilities(sources, rest);
        case "devices":
          return lookUpDevices(sources.devices(who), rest);
        default:
          return null;
      }
    },
    async write(who, names, text) {
      if (names[0] !== "config" && names[0] !== "users") throw new FileError("EPERM", `/sys/${names.join("/")}`);
      await who.runSyscall("sys.config.set", { key: names.join("/"), value: text.trim() }).catch((error: unknown) => {
        if (error instanceof SysError)
          throw new FileError(error.code === 403 ? "EACCES" : "EINVAL", `/sys/${names.join("/")}`, error.message);
        throw error;
      });
    },
    mode: (who, [top, uid, area]) => {
      const isOwn = top === "users" && uid === String(who.uid) && area === "ai";
      return (who.uid === 0 && (top === "config" || top === "users")) || isOwn ? 0o644 : 0o444;
    },
  });
}

/** Keys have the form of paths: a key is a file, and its prefixes are directories. */
function lookUpConfig(sources: SysSources, who: Who, names: readonly string[]): string | FileEntry[] | null {
  const path = names.join("/");
  const value = readValue(sources, who, path);
  if (value !== undefined) return `${value}\n`;
  const entries = new Map<string, FileEntry>();
  for (const key of sources.configKeys(who, path)) {
    const [name = "", ...more] = key.slice(path.length + 1).split("/");
    // A key sorts before the keys below it; if there are both, the entry is a file.
    if (!entries.has(name)) entries.set(name, { name, kind: more.length === 0 ? "file" : "directory" });
  }
  return entries.size > 0 || names.length === 1 ? [...entries.values()] : null;
}

function readValue(sources: SysSources, who: Who, key: string): string | undefined {
  try {
    return sources.configValue(who, key);
  } catch (error) {
    // A sealed value that cannot be opened.
    if (error instanceof SysError) throw new FileError("EINVAL", `/sys/${key}`, error.message);
    throw error;
  }
}

function lookUpCapabilities(sources: SysSources, names: readonly string[]): string | string[] | null {
  const rows = sources.capabilities();
  if (names.length === 0) return [...new Set(rows.map(({ gid }) => String(gid)))];
  const own = rows.filter(({ gid }) => String(gid) === names[0]);
  return names.length > 1 || own.length === 0 ? null : own.map(({ capability }) => `${capability}\n`).join("");
}

function lookUpDevices(all: DeviceFiles[], names: readonly string[]): string | (string | FileEntry)[] | null {
  if (names.length === 0) return all.map(({ deviceId }) => ({ name: deviceId, kind: "directory" }));
  const device = all.find(({ deviceId }) => deviceId === names[0]);
  if (device === undefined) return null;
  const files = new Map([
    ["description", device.description],
    ["implements", device.implements.join("\n")],
    ["owner", String(device.owner)],
    ["platform", device.platform],
    ["status", device.status],
    ["version", device.version],
  ]);
  if (names.length === 1) return [...files.keys()];
  const text = names.length === 2 ? files.get(names[1]!) : undefined;
  return text === undefined ? null : `${text}\n`;
}
