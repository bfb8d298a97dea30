// What processes keep as files of their user's: archives of conversations, outputs too long for a history, and what was sent
// along. /var/sessions/<username> and /var/media/<uid> belong to the user and nobody else gets in.

import { FileError } from "../../hardware/filesystem.ts";
import { fromBase64, toBase64 } from "../../lib/base64.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { Media } from "../../protocol/proc-records.ts";
import type { StoredMedia } from "../../process/rows/history.ts";
import type { Vfs } from "../../vfs/vfs.ts";
import type { GatewayTarget } from "../files/gateway-target.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";
import { processCaller, processOwner } from "./process-caller.ts";

export const MEDIA_BYTES_MAX = 25 * 1024 * 1024;
export const MEDIA_PER_MESSAGE = 20;
const PRIVATE = 0o700;

export class ProcessFiles {
  readonly #store: Store;
  readonly #gatewayTarget: GatewayTarget;
  /** Folders that were seen to be there in this life. */
  readonly #ready = new Set<string>();

  constructor(store: Store, gatewayTarget: GatewayTarget) {
    this.#store = store;
    this.#gatewayTarget = gatewayTarget;
  }

  /** Whatever their quota: without its archive a conversation could not be emptied. */
  async archive(process: ProcessRow, path: string, bytes: Uint8Array): Promise<void> {
    await this.#folder(process, path);
    await this.#files(process, true).write(path, bytes);
  }

  async write(process: ProcessRow, path: string, bytes: Uint8Array): Promise<void> {
    await this.#folder(process, path);
    try {
      await this.#files(process).write(path, bytes);
    } catch (error) {
      if (error instanceof FileError && error.code === "EDQUOT") fail(507, error.message);
      throw error;
    }
  }

  /** Null where it is gone. */
  async read(process: ProcessRow, path: string): Promise<Uint8Array | null> {
    try {
      return await this.#files(process).read(path);
    } catch (error) {
      if (error instanceof FileError && error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** All of an output the history holds a part of. */
  async output(process: ProcessRow, callId: string, text: string): Promise<string> {
    const path = `${archiveRoot(process)}/outputs/${encodeURIComponent(callId)}.txt`;
    await this.write(process, path, new TextEncoder().encode(text));
    return path;
  }

  async media(process: ProcessRow, given: readonly Media[]): Promise<StoredMedia[]> {
    if (given.length > MEDIA_PER_MESSAGE) fail(413, `Too many files: at most ${MEDIA_PER_MESSAGE} with one message`);
    const kept: StoredMedia[] = [];
    for (const { data, ...rest } of given) {
      const about = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as StoredMedia;
      if (data === undefined) {
        if (rest.url === undefined) fail(400, "media needs data or a url");
        kept.push(about);
        continue;
      }
      const bytes = bytesOf(data);
      kept.push({ ...about, key: await this.#keep(process, bytes, extensionOf(rest)), size: bytes.length });
    }
    return kept;
  }

  /** A picture a tool has shown. */
  async picture(process: ProcessRow, mimeType: string, bytes: Uint8Array): Promise<StoredMedia> {
    const key = await this.#keep(process, bytes, extensionOf({ mimeType }));
    return { type: "image", mimeType, key, size: bytes.length };
  }

  /** By its key; only what this process was given. */
  async readMedia(process: ProcessRow, key: string): Promise<Uint8Array | null> {
    const folder = mediaFolder(process).slice(1);
    if (!key.startsWith(`${folder}/`) || !/^[\w./:-]+$/.test(key) || key.includes("..")) return null;
    return this.read(process, `/${key}`);
  }

  /** Everything that was sent along goes with the conversations it was part of. */
  async forgetMedia(process: ProcessRow): Promise<void> {
    const files = this.#files(process);
    const folder = mediaFolder(process);
    try {
      for (const { name } of await files.list(folder)) await files.remove(`${folder}/${name}`);
    } catch (error) {
      if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
    }
  }

  async #keep(process: ProcessRow, bytes: Uint8Array, extension: string): Promise<string> {
    if (bytes.length > MEDIA_BYTES_MAX)
      fail(413, `A file that is sent along has at most ${MEDIA_BYTES_MAX} bytes: upload it with gsv cp instead`);
    const path = `${mediaFolder(process)}/${this.#store.ports.crypto.uuid()}${extension}`;
    await this.write(process, path, bytes);
    return path.slice(1);
  }

  /** As the owner sees them, locked or not: what is kept is kept, and what is emptied goes, whoever asked for it. */
  #files(process: ProcessRow, mayExceedQuota = false): Vfs {
    return this.#gatewayTarget.filesOf(processOwner(this.#store.reads, process), mayExceedQuota);
  }

  /** The first folder below /var/<kind> is the user's own; the rest they make themselves. */
  async #folder({ uid }: ProcessRow, path: string): Promise<void> {
    const own = path.split("/").slice(0, 4).join("/");
    if (this.#ready.has(`${uid} ${own}`)) return;
    // The kernel itself owns /var.
    const files = this.#gatewayTarget.filesOf(processCaller(this.#store.reads, null));
    const parent = own.slice(0, own.lastIndexOf("/"));
    for (const folder of ["/var", parent, own]) {
      try {
        await files.makeDirectory(folder);
      } catch (error) {
        if (!(error instanceof FileError && error.code === "EEXIST")) throw error;
      }
    }
    await files.setOwner(own, uid, null);
    await files.setMode(own, PRIVATE);
    this.#ready.add(`${uid} ${own}`);
  }
}

export function archiveRoot({ username, pid }: Pick<ProcessRow, "username" | "pid">): string {
  return `/var/sessions/${username}/${pid}`;
}

function mediaFolder({ uid, pid }: ProcessRow): string {
  return `/var/media/${uid}/${pid}`;
}

const EXTENSIONS: Record<string, string> = {
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "image/gif": ".gif",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".ogg",
  "audio/wav": ".wav",
  "video/mp4": ".mp4",
  "application/pdf": ".pdf",
};

/** By the end of its key; only what a browser shows without running it has a type of its own. */
export function mediaType(key: string): string {
  const extension = key.slice(key.lastIndexOf("."));
  return Object.keys(EXTENSIONS).find((type) => EXTENSIONS[type] === extension) ?? "application/octet-stream";
}

function extensionOf({ filename, mimeType }: { filename?: string | undefined; mimeType: string }): string {
  const own = /\.[A-Za-z0-9]{1,10}$/.exec(filename ?? "")?.[0];
  return own?.toLowerCase() ?? EXTENSIONS[mimeType] ?? "";
}

function bytesOf(data: string): Uint8Array {
  const text = /^data:[^,]*;base64,/i.test(data) ? data.slice(data.indexOf(",") + 1) : data;
  const plain = text.replace(/\s+/g, "");
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new SysError(400, "media.data must be base64 or a data URL");
  return fromBase64(plain);
}

export function dataUrl(mimeType: string, bytes: Uint8Array): string {
  return `data:${mimeType};base64,${toBase64(bytes)}`;
}
