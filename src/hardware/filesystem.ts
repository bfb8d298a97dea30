// A target's files, as the fs.* calls see them: the gateway's own tree and a device's disk implement the same interface,
// so a call means the same wherever it runs. Paths handed in are absolute and normal, from `resolve`.

import type { Body, Incoming } from "./body.ts";
import type { LinePlaces } from "./line-places.ts";
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
  /** `~` and relative paths made absolute, `.` and `..` and doubled slashes taken out. */
  resolve(path: string): string;
  stat(path: string): Promise<FileStat>;
  list(path: string): Promise<FileEntry[]>;
  /** All bytes for no range. */
  read(path: string, range?: ByteRange): Promise<Uint8Array>;
  /** To read a large file piece by piece, where opening it for each piece would cost much. */
  open?(path: string, version: string): Promise<OpenFile>;
  /** The first bytes of many files at once, null for what cannot be read: for searching where a request costs much. */
  readHeads?(paths: readonly string[], bytes: number): Promise<(Uint8Array | null)[]>;
  /**
   * Files at or below a directory that hold a text, in any order, and maybe some that do not: where there is a quicker way to
   * them than reading everything. Null where there is none for this text.
   */
  filesHolding?(root: string, text: string, ms: number, signal: AbortSignal): Promise<{ paths: string[]; isComplete: boolean } | null>;
  /** The whole file at once or not at all; parents are made. With `ifVersion`, only over that version. */
  write(path: string, content: Uint8Array, options?: { ifVersion?: string }): Promise<void>;
  /** Whatever is there, with all below it. */
  remove(path: string): Promise<void>;
  /** A file whose content comes in pieces: the old one stays until all of the new one is there. Parents are made. */
  receive(path: string, coming: Coming): Promise<Receipt>;
}

/** Reading it to its end fails unless all of it is of the version it was opened as. */
export type OpenFile = { read(start: number, end: number): Promise<Uint8Array>; close(): Promise<void> };

export type Coming = {
  size: number;
  /** Names this content: a later try with the same one goes on where this one stops. Without it nothing is kept. */
  tag: string | undefined;
  /** Of a file that is made. */
  mode: number | undefined;
};

export type Receipt = Incoming & {
  /** All is there: it takes its place. */
  finish(sha256: string): Promise<void>;
  /** `forget`: what has come so far is of no use to anybody. */
  leave(forget: boolean): Promise<void>;
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

/** The one way a file operation fails; outcome.ts turns it into words. */
export class FileError extends Error {
  readonly code: FileErrorCode;
  readonly path: string;
  /** What to do about it, where the code alone does not say. */
  readonly detail: string | undefined;

  constructor(code: FileErrorCode, path: string, detail?: string) {
    super(detail ?? `${code}: ${path}`);
    this.name = "FileError";
    this.code = code;
    this.path = path;
    this.detail = detail;
  }
}

/** What one target can take. */
export type HardwareLimits = {
  imageBytes: number;
  /** The most text one answer carries. */
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

/** What a call on files runs on. */
export type FileMachine = {
  files: FileSystem;
  limits: HardwareLimits;
  now: () => number;
  signal: AbortSignal;
  /** Where a target keeps it, reading on in a large file begins where the last page ended. */
  places?: LinePlaces;
  /** The near end of the call's body, of a call that has one. */
  body?: Body;
};

/** What any hardware call runs on. */
export type Machine = FileMachine & { shell: Shell };
