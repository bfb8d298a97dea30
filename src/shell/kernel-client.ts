// A running command's access to the kernel: files, system calls and the network, all with the rights of its caller. Failures
// in replies become errors of the same class again.

import { FileError, type FileEntry, type FileErrorCode, type FileStat } from "../hardware/filesystem.ts";
import { errorOf, type Failure, failureOf } from "../ports/reply.ts";
import { StorageError } from "../ports/sql.ts";
import type { FileFailure, FileOp, ShellAsk, ShellReply, ShellHttpRequest, ShellHttpResponse } from "../ports/shells.ts";

export type AskKernel = (ask: ShellAsk) => Promise<ShellReply>;

export class KernelClient {
  readonly #ask: AskKernel;

  constructor(ask: AskKernel) {
    this.#ask = ask;
  }

  stat(path: string): Promise<FileStat> {
    return this.#requestFileOp("stat", path);
  }

  list(path: string): Promise<FileEntry[]> {
    return this.#requestFileOp("list", path);
  }

  read(path: string, range: { start: number; end: number }): Promise<Uint8Array> {
    return this.#requestFileOp("read", path, range);
  }

  write(path: string, content: Uint8Array): Promise<void> {
    return this.#requestFileOp("write", path, content);
  }

  append(path: string, content: Uint8Array): Promise<void> {
    return this.#requestFileOp("append", path, content);
  }

  makeDirectory(path: string): Promise<void> {
    return this.#requestFileOp("makeDirectory", path);
  }

  /** Removes a directory with everything below it. */
  remove(path: string): Promise<void> {
    return this.#requestFileOp("remove", path);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#requestFileOp("rename", from, to);
  }

  setMode(path: string, mode: number): Promise<void> {
    return this.#requestFileOp("setMode", path, mode);
  }

  setOwner(path: string, uid: number | null, gid: number | null): Promise<void> {
    return this.#requestFileOp("setOwner", path, uid, gid);
  }

  setModified(path: string, ms: number): Promise<void> {
    return this.#requestFileOp("setModified", path, ms);
  }

  runSyscall<T = unknown>(call: string, args: Record<string, unknown> = {}): Promise<T> {
    return this.#request({ kind: "sys", call, args });
  }

  fetch(request: ShellHttpRequest): Promise<ShellHttpResponse> {
    return this.#request({ kind: "fetch", request });
  }

  async #requestFileOp<T>(op: FileOp, path: string, ...more: unknown[]): Promise<T> {
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
export async function toShellReply(answer: Promise<unknown>): Promise<ShellReply> {
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
