// Files attached to a message. They are read when the message is sent, and limited to what the gateway accepts. Those of a message that
// is not sent yet are kept while other conversations are shown.

import { BrowserRefusal } from "../state/call.ts";
import { username } from "../state/session.ts";
import type { SentMedia } from "../state/outbox.ts";

export const MEDIA_BYTES_MAX = 25 * 1024 * 1024;
const FILES_MAX = 20;

export type Attachment = { id: number; file: File; preview: string | null };

const NONE: readonly Attachment[] = [];
const keptByConversation = new Map<string, readonly Attachment[]>();
let lastId = 0;

export function getAttachments(pid: string, conversationId: string): readonly Attachment[] {
  return keptByConversation.get(keyOf(pid, conversationId)) ?? NONE;
}

export function keepAttachments(pid: string, conversationId: string, files: readonly Attachment[]): void {
  if (files.length === 0) keptByConversation.delete(keyOf(pid, conversationId));
  else keptByConversation.set(keyOf(pid, conversationId), files);
}

/** Returns existing and added files; `problem` says which file was left out, and why. */
export function addFiles(existing: readonly Attachment[], files: Iterable<File>): { all: Attachment[]; problem: string | null } {
  const all = [...existing];
  let problem: string | null = null;
  for (const file of files) {
    const size = all.reduce((bytes, one) => bytes + one.file.size, file.size);
    if (file.size === 0) problem = `${file.name} is empty or a folder, so it was left out.`;
    else if (size > MEDIA_BYTES_MAX)
      problem = `${file.name} was left out: all files of a message together may have 25 MB. Copy large files to a machine instead.`;
    else if (all.length >= FILES_MAX) problem = `At most ${FILES_MAX} files go with one message.`;
    else all.push({ id: ++lastId, file, preview: isPreviewableImage(file) ? URL.createObjectURL(file) : null });
  }
  return { all, problem };
}

export function releasePreview({ preview }: Attachment): void {
  if (preview !== null) URL.revokeObjectURL(preview);
}

export async function readAsMedia({ file }: Attachment): Promise<SentMedia> {
  const bytes = new Uint8Array(
    await file.arrayBuffer().catch(() => {
      throw new BrowserRefusal(`${file.name} cannot be read: it was moved or changed. Leave it out, or add it again.`);
    }),
  );
  const mimeType = file.type || "application/octet-stream";
  return { type: mediaKindOf(mimeType), mimeType, data: encodeBase64(bytes), filename: file.name, size: file.size };
}

function mediaKindOf(mimeType: string): SentMedia["type"] {
  const [kind] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "document";
}

function keyOf(pid: string, conversationId: string): string {
  return `${username.peek()} ${pid} ${conversationId}`;
}

function isPreviewableImage({ type }: File): boolean {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(type);
}

function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)));
  return btoa(parts.join(""));
}
