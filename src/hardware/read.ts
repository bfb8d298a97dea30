// fs.read: returns a file's text, by default with numbered lines, an image, or the names in a directory.

import { fileTypeFromBuffer } from "file-type";
import { toBase64 } from "../lib/base64.ts";
import { FileError, type FileStat, type FileMachine } from "./filesystem.ts";
import { type Failure, OpError, catchFailures } from "./outcome.ts";
import { humanSize, isText, decodeLines, readLines } from "./text.ts";

export type ReadArgs = { path: string; offset?: number | undefined; limit?: number | undefined; plain?: boolean | undefined };

export type Block = { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

export type ReadResult =
  | { ok: true; content: string | Block[]; path: string; lines?: number; size: number; more?: true }
  | { ok: true; path: string; files: string[]; directories: string[] }
  | Failure;

/** Formats that vision models accept. Other images are ordinary binary files. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const HEAD_BYTES = 16 * 1024;
const NUMBER_WIDTH = 6;
const NEWLINE = 0x0a;
/** How often a file that is replaced during the read is read at most. */
const TRIES = 3;

export function readFile(machine: FileMachine, args: ReadArgs): Promise<ReadResult> {
  const { files } = machine;
  return catchFailures<ReadResult>(files, async () => {
    const path = files.resolve(args.path);
    for (let tries = 1; ; tries++) {
      const stat = await files.stat(path);
      if (stat.kind === "directory") return listDirectory(machine, path);
      if (stat.kind === "other") throw new OpError(`Neither a file nor a directory: ${path}`);
      try {
        return await readContent(machine, path, stat, args);
      } catch (error) {
        // The file was replaced meanwhile: read the new one completely rather than mix both.
        if (!(error instanceof FileError) || error.code !== "ESTALE" || tries === TRIES) throw error;
      }
    }
  });
}

/** Reads only this version of a file. */
function pinTo(version: string): { ifVersion?: string } {
  return version === "" ? {} : { ifVersion: version };
}

/** Everything returned is of the version in `stat`. */
async function readContent(machine: FileMachine, path: string, stat: FileStat, args: ReadArgs): Promise<ReadResult> {
  const pinned = pinTo(stat.version);
  const head = await machine.files.read(path, { start: 0, end: Math.min(stat.size || HEAD_BYTES, HEAD_BYTES), ...pinned });
  const looksLikeText = isText(head);
  if (!looksLikeText || mayBeImage(head)) {
    const mimeType = (await fileTypeFromBuffer(head))?.mime;
    if (mimeType !== undefined && IMAGES.has(mimeType)) return readImage(machine, path, mimeType, stat);
    if (!looksLikeText) {
      throw new OpError(
        `Binary file (${mimeType ?? "unknown kind"}, ${humanSize(stat.size)}): ${path}. Inspect it in the shell, for example with file or od`,
      );
    }
  }
  return readText(machine, path, { ...stat, size: Math.max(stat.size, head.length) }, head, args);
}

/** Only for formats that may pass as text: the other images start with a byte that no text has. */
function mayBeImage(head: Uint8Array): boolean {
  const start = String.fromCharCode(...head.subarray(0, 4));
  return start === "GIF8" || start === "RIFF";
}

async function listDirectory({ files }: FileMachine, path: string): Promise<ReadResult> {
  const entries = (await files.list(path)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = (isDirectory: boolean) => entries.filter(({ kind }) => (kind === "directory") === isDirectory).map(({ name }) => name);
  return { ok: true, path, files: names(false), directories: names(true) };
}

async function readImage({ files, limits }: FileMachine, path: string, mimeType: string, { size, version }: FileStat): Promise<ReadResult> {
  if (size > limits.imageBytes)
    throw new OpError(`Image too large (${humanSize(size)}, at most ${humanSize(limits.imageBytes)}): ${path}. Make it smaller first`);
  const pinned = pinTo(version);
  const data = toBase64(await files.read(path, { start: 0, end: size, ...pinned }));
  const caption = { type: "text" as const, text: `${path} (${mimeType}, ${humanSize(size)})` };
  return { ok: true, content: [caption, { type: "image", data, mimeType }], path, size };
}

async function readText(
  { files, limits, places }: FileMachine,
  path: string,
  { size, version }: FileStat,
  head: Uint8Array,
  { offset = 0, limit = Infinity, plain = false }: ReadArgs,
): Promise<ReadResult> {
  const out: string[] = [];
  const pinned = pinTo(version);
  const from = places?.nearestBefore(path, version, offset) ?? { line: 0, byte: 0 };
  let at = from.line;
  let bytes = 0;
  let more = false;
  // True even if every byte were a line of its own.
  const fits = size * (NUMBER_WIDTH + 3) <= limits.textBytes;
  const encoder = new TextEncoder();
  const pages =
    head.length === size
      ? [decodeLines(head)]
      : readLines(files, path, size, { version, from, onPlace: (place) => places?.add(path, version, place) });
  for await (const lines of pages) {
    for (const line of lines) {
      if (at >= offset) {
        more = out.length >= limit;
        if (more) break;
        out.push(plain ? line : `${String(at + 1).padStart(NUMBER_WIDTH)}\t${line}`);
        if (!fits) bytes += encoder.encode(line).length + NUMBER_WIDTH + 2;
        if (bytes > limits.textBytes) {
          throw new OpError(
            `Too much text for one answer (${humanSize(size)}): ${path}. Read it in parts with offset and limit; it has at least ${at + 1} lines`,
          );
        }
      }
      at++;
    }
    if (more) break;
  }
  if (out.length === 0 && offset > 0 && limit > 0) throw new OpError(`offset ${offset} is past the end: ${path} has ${at} lines`);
  const hasNewline = plain && out.length > 0 && (more || (await endsWithNewline(files, path, head, size, pinned)));
  return { ok: true, content: `${out.join("\n")}${hasNewline ? "\n" : ""}`, path, lines: out.length, size, ...(more ? { more } : {}) };
}

async function endsWithNewline(
  files: FileMachine["files"],
  path: string,
  head: Uint8Array,
  size: number,
  pinned: { ifVersion?: string },
): Promise<boolean> {
  const last = head.length === size ? head.subarray(-1) : await files.read(path, { start: size - 1, end: size, ...pinned });
  return last[0] === NEWLINE;
}
