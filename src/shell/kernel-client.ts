// A running command's access to the kernel: files, system calls and the network, all with the rights of its caller. Failures
// in replies become errors of the same class again.

import { FileError, type FileEntry, type FileErrorCode, type FileStat } from "../hardware/filesystem.ts";
import { errorOf, type Failure, failureOf } from "../ports/reply.ts";
import { StorageError } from "../ports/sql.ts";
import type { FileFailure, FileOp, ShellAsk, ShellReply, ShellRequest, ShellResponse } from "../ports/shells.ts";

export type Ask = (ask: ShellAsk) => Promise<ShellReply>;

export class KernelClient {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  stat(path: string): Promise<FileStat> {
    return this.#file("stat", path);
  }

  list(path: string): Promise<FileEntry[]> {
    return this.#file("list", path);
  }

  read(path: string, range: { start: number; end: number }): Promise<Uint8Array> {
    return this.#file("read", path, range);
  }

  write(path: string, content: Uint8Array): Promise<void> {
    return this.#file("write", path, content);
  }

  append(path: string, content: Uint8Array): Promise<void> {
    return this.#file("append", path, content);
  }

  makeDirectory(path: string): Promise<void> {
    return this.#file("makeDirectory", path);
  }

  /** Removes a directory with everything below it. */
  remove(path: string): Promise<void> {
    return this.#file("remove", path);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#file("rename", from, to);
  }

  setMode(path: string, mode: number): Promise<void> {
    return this.#file("setMode", path, mode);
  }

  setOwner(path: string, uid: number | null, gid: number | null): Promise<void> {
    return this.#file("setOwner", path, uid, gid);
  }

  setModified(path: string, ms: number): Promise<void> {
    return this.#file("setModified", path, ms);
  }

  runSyscall<T = unknown>(call: string, args: Record<string, unknown> = {}): Promise<T> {
    return this.#request({ kind: "sys", call, args });
  }

  fetch(request: ShellRequest): Promise<ShellResponse> {
    return this.#request({ kind: "fetch", request });
  }

  async #file<T>(op: FileOp, path: string, ...more: unknown[]): Promise<T> {
    try {
      return await this.#request({ kind: "file", op, args: [path, ...more] });
    } catch (error) {
      // As the error code that commands know.
      throw error instanceof StorageError && error.full ? new FileError("ENOSPC", path) : error;
    }
  }

  async #request<T>(ask: ShellAsk): Promise<T> {
    const reply = await this.#ask(ask);
    if (!reply.ok) throw toError(reply.failure);
    return reply.value as T;
  }
}

/** The kernel's side: turns an error into a value that can be sent to the command. */
export async function shellReply(answer: Promise<unknown>): Promise<ShellReply> {
  try {
    return { ok: true, value: await answer };
  } catch (error) {
    if (!(error instanceof FileError)) return { ok: false, failure: failureOf(error) };
    return { ok: false, failure: { kind: "file", code: error.code, path: error.path, message: error.message } };
  }
}

function toError(failure: Failure | FileFailure): Error {
  return failure.kind === "file" ? new FileError(failure.code as FileErrorCode, failure.path, failure.message) : errorOf(failure);
}
