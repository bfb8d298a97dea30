// Files that processes store for their users: archives of conversations, outputs that are too long for the history, and media sent with
// messages. /var/sessions/<username> and /var/media/<uid> belong to the user, and no other user has access.

import { FileError } from "../../hardware/filesystem.ts";
import { fromBase64, toBase64 } from "../../lib/base64.ts";
import { fail, SysError } from "../../lib/sys-error.ts";
import type { Media } from "../../protocol/proc-records.ts";
import type { StoredMedia } from "../../process/rows/history.ts";
import type { Vfs } from "../../vfs/vfs.ts";
import type { GatewayTarget } from "../files/gateway-target.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";
import { type Archives, deleteConversationFiles, listArchives } from "./conversation-deletion.ts";
import { makeProcessCaller, makeOwnerCaller } from "./process-caller.ts";

export const MEDIA_BYTES_MAX = 25 * 1024 * 1024;
export const MEDIA_PER_MESSAGE = 20;
const PRIVATE = 0o700;

export class ProcessFiles {
  readonly #store: Store;
  readonly #gatewayTarget: GatewayTarget;
  /** Folders that are known to exist, since the start of the kernel. */
  readonly #ready = new Set<string>();

  constructor(store: Store, gatewayTarget: GatewayTarget) {
    this.#store = store;
    this.#gatewayTarget = gatewayTarget;
  }

  /** May exceed the quota: a conversation must be archived before it can be reset. */
  async archive(process: ProcessRow, path: string, bytes: Uint8Array): Promise<void> {
    await this.#ensureFolder(process, path);
    await this.#fileSystemOf(process, true).write(path, bytes);
  }

  async write(process: ProcessRow, path: string, bytes: Uint8Array): Promise<void> {
    await this.#ensureFolder(process, path);
    try {
      await this.#fileSystemOf(process).write(path, bytes);
    } catch (error) {
      if (error instanceof FileError && error.code === "EDQUOT") fail(507, error.message);
      throw error;
    }
  }

  /** Null if the file does not exist. */
  async read(process: ProcessRow, path: string): Promise<Uint8Array | null> {
    try {
      return await this.#fileSystemOf(process).read(path);
    } catch (error) {
      if (error instanceof FileError && error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** Stores the whole of an output of which the history holds only a part. */
  async storeOutput(process: ProcessRow, callId: string, text: string): Promise<string> {
    const path = `${archiveRoot(process)}/outputs/${encodeURIComponent(callId)}.txt`;
    await this.write(process, path, new TextEncoder().encode(text));
    return path;
  }

  /** Stores the media of one message. */
  async storeMedia(process: ProcessRow, media: readonly Media[]): Promise<StoredMedia[]> {
    if (media.length > MEDIA_PER_MESSAGE) fail(413, `Too many files: at most ${MEDIA_PER_MESSAGE} per message`);
    const stored: StoredMedia[] = [];
    for (const { data, ...rest } of media) {
      const metadata = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as StoredMedia;
      if (data === undefined) {
        if (rest.url === undefined) fail(400, "media needs data or a url");
        stored.push(metadata);
        continue;
      }
      const bytes = decodeMedia(data);
      stored.push({ ...metadata, key: await this.#storeMedia(process, bytes, extensionOf(rest)), size: bytes.length });
    }
    return stored;
  }

  /** Stores an image from the result of a tool. */
  async storePicture(process: ProcessRow, mimeType: string, bytes: Uint8Array): Promise<StoredMedia> {
    const key = await this.#storeMedia(process, bytes, extensionOf({ mimeType }));
    return { type: "image", mimeType, key, size: bytes.length };
  }

  /** Reads media by key; null for media of other processes. */
  async readMedia(process: ProcessRow, key: string): Promise<Uint8Array | null> {
    const folder = mediaFolder(process).slice(1);
    if (!key.startsWith(`${folder}/`) || !/^[\w./:-]+$/.test(key) || key.includes("..")) return null;
    return this.read(process, `/${key}`);
  }

  /** Deletes all media of a process, whose conversations are deleted too. */
  async deleteMedia(process: ProcessRow): Promise<void> {
    const files = this.#fileSystemOf(process);
    const folder = mediaFolder(process);
    try {
      for (const { name } of await files.list(folder)) await files.remove(`${folder}/${name}`);
    } catch (error) {
      if (!(error instanceof FileError && error.code === "ENOENT")) throw error;
    }
  }

  /** Of a conversation, and of all other conversations of the process. */
  listArchives(process: ProcessRow, conversationId: string): Promise<Archives> {
    return listArchives(this.#fileSystemOf(process), archiveRoot(process), conversationId);
  }

  /** Deletes the archives of a conversation, and those of these files that belong to the process. */
  deleteConversation(process: ProcessRow, conversationId: string, paths: readonly string[]): Promise<void> {
    const folders = { archiveRoot: archiveRoot(process), mediaFolder: mediaFolder(process) };
    return deleteConversationFiles(this.#fileSystemOf(process), folders, conversationId, paths);
  }

  async #storeMedia(process: ProcessRow, bytes: Uint8Array, extension: string): Promise<string> {
    if (bytes.length > MEDIA_BYTES_MAX)
      fail(413, `An attached file may have at most ${MEDIA_BYTES_MAX} bytes: upload it with gsv cp instead`);
    const path = `${mediaFolder(process)}/${this.#store.ports.crypto.uuid()}${extension}`;
    await this.write(process, path, bytes);
    return path.slice(1);
  }

  /** The file system as the owner, locked or not: archiving and deleting must work whoever resets the process. */
  #fileSystemOf(process: ProcessRow, mayExceedQuota = false): Vfs {
    return this.#gatewayTarget.filesFor(makeOwnerCaller(this.#store.reads, process), mayExceedQuota);
  }

  /** Makes the user's own folder below /var/<kind>; folders below it are made with the rights of the user. */
  async #ensureFolder({ uid }: ProcessRow, path: string): Promise<void> {
    const own = path.split("/").slice(0, 4).join("/");
    if (this.#ready.has(`${uid} ${own}`)) return;
    // The kernel itself owns /var.
    const files = this.#gatewayTarget.filesFor(makeProcessCaller(this.#store.reads, null));
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

/** The MIME type by file extension. Only types that a browser displays without running them are listed. */
export function mimeTypeOf(key: string): string {
  const extension = key.slice(key.lastIndexOf("."));
  return Object.keys(EXTENSIONS).find((type) => EXTENSIONS[type] === extension) ?? "application/octet-stream";
}

function extensionOf({ filename, mimeType }: { filename?: string | undefined; mimeType: string }): string {
  const own = /\.[A-Za-z0-9]{1,10}$/.exec(filename ?? "")?.[0];
  return own?.toLowerCase() ?? EXTENSIONS[mimeType] ?? "";
}

function decodeMedia(data: string): Uint8Array {
  const text = /^data:[^,]*;base64,/i.test(data) ? data.slice(data.indexOf(",") + 1) : data;
  const plain = text.replace(/\s+/g, "");
  if (plain.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(plain)) throw new SysError(400, "media.data must be base64 or a data URL");
  return fromBase64(plain);
}

export function makeDataUrl(mimeType: string, bytes: Uint8Array): string {
  return `data:${mimeType};base64,${toBase64(bytes)}`;
}
