// A target's files, as the fs.* calls see them: the gateway's own tree and a device's disk implement the same interface, so a
// call means the same wherever it runs. Paths passed in are absolute and normalized by `resolve`.

import type { MachineVitals } from "../ports/vitals.ts";
import type { Body, IncomingBody } from "./body.ts";
import type { LinePositions } from "./line-places.ts";
import type { Shell } from "./shell.ts";

export type FileKind = "file" | "directory" | "other";

export type FileStat = {
  kind: FileKind;
  /** Bytes. */
  size: number;
  modifiedAt: number;
  /** Permission bits with the sticky bit, without the kind. */
  mode: number;
  uid: number;
  gid: number;
  /** Changes whenever the content may have changed; equal versions mean equal content. */
  version: string;
};

export type FileEntry = { name: string; kind: FileKind };

/** Bytes from `start` up to `end`; with `ifVersion`, only of that version. */
export type ByteRange = { start: number; end: number; ifVersion?: string };

export interface FileSystem {
  /** Makes `~` and relative paths absolute, and removes `.`, `..` and doubled slashes. */
  resolve(path: string): string;
  stat(path: string): Promise<FileStat>;
  list(path: string): Promise<FileEntry[]>;
  /** Without a range, all bytes. */
  read(path: string, range?: ByteRange): Promise<Uint8Array>;
  /** For reading a large file in pieces, if opening it for each piece would be expensive. */
  open?(path: string, version: string): Promise<OpenFile>;
  /** The first bytes of many files at once, null for unreadable ones: for searches where a request is expensive. */
  readFirstBytes?(paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /**
   * Files at or below a directory that hold a text, in any order and possibly with false positives: for targets that can find
   * them faster than by reading everything. Null if it cannot search for this text.
   */
  findFilesContaining?(
    root: string,
    text: string,
    ms: number,
    signal: AbortSignal,
  ): Promise<{ paths: string[]; isComplete: boolean } | null>;
  /** Writes the whole file or nothing, and creates its parents. With `ifVersion`, only over that version. */
  write(path: string, content: Uint8Array, options?: { ifVersion?: string }): Promise<void>;
  /** Removes anything at that path, with everything below it. */
  remove(path: string): Promise<void>;
  /** A file whose content arrives in pieces: the old file stays until the new one is complete. Creates its parents. */
  receive(path: string, coming: IncomingFile): Promise<FileReceiver>;
}

/** Reading it to the end fails unless all of it is of the version it was opened with. */
export type OpenFile = { read(start: number, end: number): Promise<Uint8Array>; close(): Promise<void> };

export type IncomingFile = {
  size: number;
  /** Names this content: a retry with the same tag resumes where this one stops. Without it nothing is kept. */
  tag: string | undefined;
  /** The mode of a new file. */
  mode: number | undefined;
};

export type FileReceiver = IncomingBody & {
  /** The content is complete: moves it into place. */
  finish(sha256: string): Promise<void>;
  /** `forget` discards the bytes received so far. */
  abandon(forget: boolean): Promise<void>;
};

export type FileErrorCode =
  | "ENOENT"
  | "EEXIST"
  | "EACCES"
  | "EPERM"
  | "EISDIR"
  | "ENOTDIR"
  | "ENOTEMPTY"
  | "EXDEV"
  | "EINVAL"
  | "ENAMETOOLONG"
  | "ENOSPC"
  | "EDQUOT"
  | "EFBIG"
  | "ENOSYS"
  | "ESTALE";

/** The only way a file operation fails; outcome.ts turns it into a sentence. */
export class FileError extends Error {
  readonly code: FileErrorCode;
  readonly path: string;
  /** What to do about it, if the code alone does not say. */
  readonly detail: string | undefined;

  constructor(code: FileErrorCode, path: string, detail?: string) {
    super(detail ?? `${code}: ${path}`);
    this.name = "FileError";
    this.code = code;
    this.path = path;
    this.detail = detail;
  }
}

/** The limits of one target. */
export type HardwareLimits = {
  imageBytes: number;
  /** The most text in one answer. */
  textBytes: number;
  searchMatches: number;
  searchLineChars: number;
  searchFiles: number;
  searchMs: number;
};

export const NATIVE_LIMITS: HardwareLimits = {
  imageBytes: 25 * 1024 * 1024,
  textBytes: 16 * 1024 * 1024,
  searchMatches: 500,
  searchLineChars: 500,
  searchFiles: 100_000,
  searchMs: 10_000,
};

/** What a file call runs on. */
export type FileMachine = {
  files: FileSystem;
  limits: HardwareLimits;
  now: () => number;
  signal: AbortSignal;
  /** If the target keeps it, the next page of a large file starts where the last one ended. */
  places?: LinePositions;
  /** The near end of the call's body, if the call has one. */
  body?: Body;
};

/** What any hardware call runs on. */
export type Machine = FileMachine & { shell: Shell; readVitals: () => Promise<MachineVitals> };
