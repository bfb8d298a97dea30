// A side of a copy: files of this machine or of a target, behind one interface, so that copying knows no directions.

import { createWriteStream } from "node:fs";
import { chmod, lstat, mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { once } from "node:events";
import type { Client } from "../client/client.ts";
import { CONTENT_BYTES_MAX, localText, sendable } from "./local-text.ts";
import { type FilePlace, placeText } from "./place.ts";
import { Problem } from "./problem.ts";
import { remoteContent } from "./remote-content.ts";
import { isDirectory, kindListed, mustBeOk } from "./remote-file.ts";

export type Kind = "file" | "directory" | null;
export type Listing = { files: string[]; directories: string[]; others: string[] };
export type Content = AsyncIterable<string | Uint8Array>;

export interface Depot {
  /** As it would be typed. */
  text(path: string): string;
  join(folder: string, name: string): string;
  /** Null where nothing is. */
  kind(path: string): Promise<Kind>;
  list(path: string): Promise<Listing>;
  read(path: string): Content;
  /** The whole file or nothing of it. Returns its size. */
  write(path: string, content: Content): Promise<number>;
  /** False where a directory cannot be made, and there is none before a file is in it. */
  makeDirectory(path: string): Promise<boolean>;
}

export const here: Depot = {
  text: (path) => path,
  join,
  async kind(path) {
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
  async *read(path) {
    yield await localText(path);
  },
  async write(path, content) {
    // A link stays a link.
    const target = await realpath(path).catch(() => path);
    const before = await lstat(target).catch(() => null);
    const fresh = join(dirname(target), `.${basename(target).slice(0, 200)}.${process.pid}.new`);
    let size = 0;
    const file = createWriteStream(fresh, { flags: "wx" });
    try {
      // Fails where the directory does not exist, as it should: a name mistyped is not a directory made.
      await once(file, "open");
      for await (const part of content) {
        size += Buffer.byteLength(part);
        if (!file.write(part)) await once(file, "drain");
      }
      file.end();
      await once(file, "close");
      if (before !== null) await chmod(fresh, before.mode & 0o777);
      await rename(fresh, target);
      return size;
    } catch (error) {
      file.destroy();
      await rm(fresh, { force: true });
      if (error instanceof Error && "syscall" in error) throw new Problem(`Cannot write ${path}: ${reason(error)}`);
      throw error;
    }
  },
  async makeDirectory(path) {
    await mkdir(path, { recursive: true });
    return true;
  },
};

export function there(client: Client, target: string): Depot {
  const place = (path: string): FilePlace => ({ target, path });
  return {
    text: (path) => placeText({ target, path }, path),
    join: (folder, name) => `${folder.replace(/(?<=.)\/+$/, "")}${folder === "/" ? "" : "/"}${name}`,
    async kind(path) {
      const listed = await kindListed(client, place(path));
      if (listed !== null) return listed;
      const found = await client.call("fs.read", { ...place(path), limit: 0 });
      if (found.ok) return "directories" in found ? "directory" : "file";
      if (/^Not found\b/.test(found.error)) return null;
      return (await isDirectory(client, place(path))) ? "directory" : "file";
    },
    async list(path) {
      const found = mustBeOk(await client.call("fs.read", { ...place(path), limit: 0 }));
      if (!("directories" in found)) throw new Problem(`Not a directory: ${placeText(place(path), path)}`);
      for (const name of [...found.files, ...found.directories]) mustBeName(name, placeText(place(path), path));
      return { files: found.files, directories: found.directories, others: [] };
    },
    async *read(path) {
      for await (const part of remoteContent(client, place(path))) yield "text" in part ? part.text : part.picture;
    },
    async write(path, content) {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const part of content) {
        const bytes = Buffer.from(part);
        parts.push(bytes);
        size += bytes.length;
        if (size > CONTENT_BYTES_MAX) break;
      }
      const text = sendable(Buffer.concat(parts), placeText(place(path), path));
      return mustBeOk(await client.call("fs.write", { ...place(path), content: text })).size;
    },
    // A file brings the directories above it.
    makeDirectory: () => Promise.resolve(false),
  };
}

/** Without the name of the file that is only there for a moment. */
function reason(error: Error): string {
  return error.message.replace(/, \w+ '.*'$/s, "");
}

/** A target that is not what it should be must not choose where on this machine something is written. */
function mustBeName(name: string, where: string): void {
  if (name === "" || name === "." || name === ".." || /[/\0]/.test(name) || (process.platform === "win32" && /[\\:]/.test(name)))
    throw new Problem(`${where} holds something whose name is no name: ${JSON.stringify(name)}. Nothing of it was copied`);
}
