// One side of a copy: files of this machine or of a target, behind one interface, so that copying is the same in every direction.

import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "../../client/client.ts";
import { type TargetPath, formatTargetPath } from "./target-path.ts";
import { Problem } from "../terminal/problem.ts";
import { isDirectory, findListedKind, requireOk } from "./remote-file.ts";

export type FileKind = "file" | "directory" | null;
export type Listing = { files: string[]; directories: string[]; others: string[] };

export interface CopyEndpoint {
  /** Null for this machine. */
  readonly target: string | null;
  /** As a user would type it. */
  formatPath(path: string): string;
  join(folder: string, name: string): string;
  /** Null if nothing exists there. */
  findKind(path: string): Promise<FileKind>;
  list(path: string): Promise<Listing>;
  /** False if the target creates directories only when a file is written into them. */
  makeDirectory(path: string): Promise<boolean>;
}

export const localEndpoint: CopyEndpoint = {
  target: null,
  formatPath: (path) => path,
  join,
  async findKind(path) {
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw new Problem(`Cannot read ${path}: ${error.message}`);
    });
    if (found === null) return null;
    if (!found.isDirectory() && !found.isFile()) throw new Problem(`Neither a file nor a directory: ${path}`);
    return found.isDirectory() ? "directory" : "file";
  },
  async list(path) {
    const entries = await readdir(path, { withFileTypes: true }).catch((error: Error) => {
      throw new Problem(`Cannot read ${path}: ${error.message}`);
    });
    const names = (fits: (entry: (typeof entries)[number]) => boolean) => entries.filter(fits).map(({ name }) => name);
    return {
      files: names((entry) => entry.isFile()),
      directories: names((entry) => entry.isDirectory()),
      others: names((entry) => !entry.isFile() && !entry.isDirectory()),
    };
  },
  async makeDirectory(path) {
    await mkdir(path, { recursive: true });
    return true;
  },
};

export function makeTargetEndpoint(client: Client, target: string): CopyEndpoint {
  const place = (path: string): TargetPath => ({ target, path });
  return {
    target,
    formatPath: (path) => formatTargetPath({ target, path }, path),
    join: (folder, name) => `${folder.replace(/(?<=.)\/+$/, "")}${folder === "/" ? "" : "/"}${name}`,
    async findKind(path) {
      const listed = await findListedKind(client, place(path));
      if (listed !== null) return listed;
      const found = await client.call("fs.read", { ...place(path), limit: 0 });
      if (found.ok) return "directories" in found ? "directory" : "file";
      if (/^Not found\b/.test(found.error)) return null;
      return (await isDirectory(client, place(path))) ? "directory" : "file";
    },
    async list(path) {
      const found = requireOk(await client.call("fs.read", { ...place(path), limit: 0 }));
      if (!("directories" in found)) throw new Problem(`Not a directory: ${formatTargetPath(place(path), path)}`);
      for (const name of [...found.files, ...found.directories]) mustBeName(name, formatTargetPath(place(path), path));
      return { files: found.files, directories: found.directories, others: [] };
    },
    // Writing a file creates its parent directories.
    makeDirectory: () => Promise.resolve(false),
  };
}

/** A malicious target must not choose where on this machine a file is written. */
function mustBeName(name: string, where: string): void {
  if (name === "" || name === "." || name === ".." || /[/\0]/.test(name) || (process.platform === "win32" && /[\\:]/.test(name)))
    throw new Problem(`${where} contains an entry with an invalid name: ${JSON.stringify(name)}. Nothing was copied from it`);
}
