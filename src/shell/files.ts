// The shell's file system: implements just-bash's interface with one request to the kernel per operation. Paths of programs
// and of the few devices without an end are answered here.

import type { FsStat, IFileSystem } from "just-bash/browser";
import { FileError, type FileErrorCode, type FileStat } from "../hardware/filesystem.ts";
import { fromLatin1, toLatin1 } from "../lib/bytes.ts";
import { SysError } from "../lib/sys-error.ts";
import { resolvePath } from "../vfs/path.ts";
import type { KernelClient } from "./kernel-client.ts";
import { TERMINAL, TERMINAL_ERRORS } from "./terminal.ts";

/** Commands read whole files, so a larger one is refused before it fills the memory. */
const READ_BYTES_MAX = 16 * 1024 * 1024;
/** Most files are smaller than this and are read with one request. */
const FIRST_BYTES = 256 * 1024;
const COPY_DEPTH_MAX = 100;
/** The mode of a new file. */
const NEW_MODE = 0o644;
const PROGRAM = /^\/(?:usr\/)?bin\/([^/]+)$/;
/** Where packages install their commands, which cannot have the name of a built-in one. */
const PACKAGE_PROGRAM = /^\/usr\/local\/bin\/([^/]+)$/;
const ENDLESS_DEVICES = new Set(["/dev/zero", "/dev/random", "/dev/urandom"]);

export type Terminal = {
  write: (stream: "stdout" | "stderr", text: string) => void;
  /** The next line of input, with its newline; null at the end of input. */
  readLine: () => Promise<string | null>;
};

const MKDIR_TRIES = 5;

export class ShellFiles implements IFileSystem {
  readonly #link: KernelClient;
  readonly #terminal: Terminal;
  readonly #hasProgram: (name: string) => boolean;
  /** By path, why a file could not be read, unless it was missing. */
  readonly #failures = new Map<string, string>();

  constructor(link: KernelClient, terminal: Terminal, hasProgram: (name: string) => boolean) {
    this.#link = link;
    this.#terminal = terminal;
    this.#hasProgram = hasProgram;
  }

  async readFile(path: string, options?: Parameters<IFileSystem["readFile"]>[1]): Promise<string> {
    const encoding = (typeof options === "string" ? options : options?.encoding) ?? "utf8";
    const bytes = await this.readFileBuffer(path);
    return encoding === "latin1" || encoding === "binary" || encoding === "ascii"
      ? toLatin1(bytes)
      : new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes);
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    if (path === TERMINAL) return new TextEncoder().encode((await this.#terminal.readLine()) ?? "");
    if (ENDLESS_DEVICES.has(path)) throw this.#makeReadError(path, "It is endless: use head -c to read a part");
    const firstBytes = await this.#withNodeErrors("open", path, () => this.#link.read(path, { start: 0, end: FIRST_BYTES }));
    if (firstBytes.length < FIRST_BYTES) return firstBytes;
    // A file that is too large is not fetched.
    const { size } = await this.#withNodeErrors("open", path, () => this.#link.stat(path));
    const bytes =
      size > READ_BYTES_MAX
        ? null
        : await this.#withNodeErrors("open", path, () => this.#link.read(path, { start: 0, end: READ_BYTES_MAX + 1 }));
    if (bytes === null || bytes.length > READ_BYTES_MAX)
      throw this.#makeReadError(path, `Too large for a command: more than ${READ_BYTES_MAX} bytes`);
    return bytes;
  }

  async writeFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    if (this.#writeToDevice(path, content, options)) return;
    await this.#checkParentExists(path);
    await this.#withNodeErrors("open", path, () => this.#link.write(path, toBytes(content, options)));
  }

  async appendFile(path: string, content: string | Uint8Array, options?: Encoding): Promise<void> {
    if (this.#writeToDevice(path, content, options)) return;
    await this.#checkParentExists(path);
    await this.#withNodeErrors("open", path, () => this.#link.append(path, toBytes(content, options)));
  }

  async exists(path: string): Promise<boolean> {
    if (this.#isProgram(path) || path === TERMINAL || path === TERMINAL_ERRORS) return true;
    // just-bash checks this for every command of a script, because /usr/local/bin comes first in PATH.
    if (this.#hasProgram(PACKAGE_PROGRAM.exec(path)?.[1] ?? "")) return false;
    return this.#link.stat(path).then(
      () => true,
      () => false,
    );
  }

  async stat(path: string): Promise<FsStat> {
    if (this.#isProgram(path) || path === TERMINAL || path === TERMINAL_ERRORS) return PROGRAM_STAT;
    // There are no links, so the path identifies the file.
    return { ...toFsStat(await this.#withNodeErrors("stat", path, () => this.#link.stat(path))), identity: path };
  }

  lstat(path: string): Promise<FsStat> {
    return this.stat(path);
  }

  async mkdir(path: string, options?: { recursive?: boolean }): Promise<void> {
    if (!options?.recursive) return this.#withNodeErrors("mkdir", path, () => this.#link.makeDirectory(path));
    const parts = path.split("/").filter(Boolean);
    for (let at = 1; at <= parts.length; at++) {
      const partial = `/${parts.slice(0, at).join("/")}`;
      const present = await this.#link.stat(partial).catch(() => null);
      if (present === null) await this.#withNodeErrors("mkdir", partial, () => this.#ensureDirectory(partial));
      else if (present.kind !== "directory") throw makeNodeError("EEXIST", "mkdir", partial);
    }
  }

  /** Retries, because another writer may create the directory at the same time and then roll it back. */
  async #ensureDirectory(path: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#link.makeDirectory(path);
      } catch (error) {
        if (!(error instanceof FileError) || error.code !== "EEXIST") throw error;
        const present = await this.#link.stat(path).catch(() => null);
        if (present?.kind === "directory") return;
        if (present !== null || tries === MKDIR_TRIES) throw error;
      }
    }
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string) {
    const entries = await this.#withNodeErrors("scandir", path, () => this.#link.list(path));
    return entries
      .map(({ name, kind }) => ({ name, isFile: kind === "file", isDirectory: kind === "directory", isSymbolicLink: false }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
    const present = await this.#link.stat(path).catch((error: unknown) => {
      if (options?.force && error instanceof FileError && error.code === "ENOENT") return null;
      throw toNodeError(error, "rm", path);
    });
    if (present === null) return;
    if (present.kind === "directory" && !options?.recursive) {
      const entries = await this.#withNodeErrors("rm", path, () => this.#link.list(path));
      if (entries.length > 0) throw makeNodeError("ENOTEMPTY", "rm", path);
    }
    await this.#withNodeErrors("rm", path, () => this.#link.remove(path));
  }

  async cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void> {
    await this.#copy(from, to, options?.recursive === true, 0);
  }

  async mv(from: string, to: string): Promise<void> {
    try {
      await this.#link.rename(from, to);
    } catch (error) {
      if (!(error instanceof FileError) || error.code !== "EXDEV") throw toNodeError(error, "rename", from);
      // From one mount to another: copy and delete, as mv does between two disks.
      await this.#copy(from, to, true, 0);
      await this.#withNodeErrors("rename", from, () => this.#link.remove(from));
    }
  }

  async #copy(from: string, to: string, isRecursive: boolean, depth: number): Promise<void> {
    const source = await this.#withNodeErrors("cp", from, () => this.#link.stat(from));
    if (source.kind !== "directory") {
      const isNew = await this.#link.stat(to).then(
        () => false,
        () => true,
      );
      await this.writeFile(to, await this.readFileBuffer(from));
      if (isNew && source.mode !== NEW_MODE) await this.#withNodeErrors("cp", to, () => this.#link.setMode(to, source.mode));
      return;
    }
    if (!isRecursive) throw makeNodeError("EISDIR", "cp", from);
    if (depth > COPY_DEPTH_MAX || `${to}/`.startsWith(`${from}/`)) throw new Error(`EINVAL: cannot copy '${from}' into itself`);
    await this.mkdir(to, { recursive: true });
    for (const { name } of await this.#withNodeErrors("cp", from, () => this.#link.list(from))) {
      await this.#copy(`${from}/${name}`, `${to}/${name}`, true, depth + 1);
    }
  }

  resolvePath(base: string, path: string): string {
    return resolvePath(path === "" ? base : path, { cwd: base, home: "/" });
  }

  /** For globs, which list directories if this returns nothing. */
  getAllPaths(): string[] {
    return [];
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.#withNodeErrors("chmod", path, () => this.#link.setMode(path, mode));
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    await this.#withNodeErrors("utime", path, () => this.#link.setModified(path, modified.getTime()));
  }

  async realpath(path: string): Promise<string> {
    await this.stat(path);
    return path;
  }

  async symlink(_target: string, path: string): Promise<void> {
    throw makeNodeError("ENOSYS", "symlink", path);
  }

  async link(_existing: string, path: string): Promise<void> {
    throw makeNodeError("ENOSYS", "link", path);
  }

  async readlink(path: string): Promise<string> {
    await this.stat(path);
    throw makeNodeError("EINVAL", "readlink", path);
  }

  /** Clears what is known of the last command. */
  clearFailures(): void {
    this.#failures.clear();
  }

  /** just-bash's commands report every file they cannot read as missing; this replaces that by the real reason, in bash's words. */
  correctErrors(errors: string): string {
    const text = toBashWording(errors);
    if (this.#failures.size === 0) return text;
    return text.replace(/^(\w+: )(.+)(: No such file or directory)$/gm, (line, program: string, name: string) => {
      const plainName = name.replace(/^(?:\.\/)+/, "");
      const path = [...this.#failures.keys()].find((failed) => failed === name || failed.endsWith(`/${plainName}`));
      return path === undefined ? line : `${program}${name}: ${this.#failures.get(path)}`;
    });
  }

  /** The kernel's tree creates missing directories on a write; a shell must fail instead. */
  async #checkParentExists(path: string): Promise<void> {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (parent !== "") await this.#withNodeErrors("open", path, () => this.#link.stat(parent));
  }

  /** Handles a write to the terminal or /dev/null without a request to the kernel; false for any other path. */
  #writeToDevice(path: string, content: string | Uint8Array, options: Encoding): boolean {
    if (path !== TERMINAL && path !== TERMINAL_ERRORS) return path === "/dev/null";
    if (content.length === 0) return true;
    const text = new TextDecoder().decode(toBytes(content, options));
    if (path === TERMINAL) this.#terminal.write("stdout", text);
    else this.#terminal.write("stderr", this.correctErrors(text));
    return true;
  }

  #isProgram(path: string): boolean {
    const name = PROGRAM.exec(path)?.[1];
    return name !== undefined && this.#hasProgram(name);
  }

  async #withNodeErrors<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FileError && error.code !== "ENOENT") this.#failures.set(path, REASONS[error.code] ?? error.message);
      // The approval policy refused an agent's call; the message says what to do instead.
      if (error instanceof SysError) this.#failures.set(path, error.message);
      throw toNodeError(error, verb, path);
    }
  }

  #makeReadError(path: string, why: string): Error {
    this.#failures.set(path, why);
    return new Error(`EINVAL: ${why}, read '${path}'`);
  }
}

/** Reasons in bash's words. */
export const REASONS: Partial<Record<FileErrorCode, string>> = {
  ENOENT: "No such file or directory",
  EACCES: "Permission denied",
  EPERM: "Operation not permitted",
  EISDIR: "Is a directory",
  ENOTDIR: "Not a directory",
  ENOSPC: "No space left on device",
  EDQUOT: "Disk quota exceeded",
};

/** Replaces Node's error messages at the end of lines by bash's. */
function toBashWording(errors: string): string {
  return errors.replace(/^(.*?)\b(E[A-Z]+): [a-z ]+, [a-z]+ '([^'\n]*)'$/gm, (line, before: string, code: string, path: string) => {
    const reason = REASONS[code as FileErrorCode];
    if (reason === undefined) return line;
    const program = before === "" ? "bash: " : before;
    return program.includes("'") ? program + reason : `${program}${path}: ${reason}`;
  });
}

type Encoding = Parameters<IFileSystem["writeFile"]>[2];

const PROGRAM_STAT: FsStat = { isFile: true, isDirectory: false, isSymbolicLink: false, mode: 0o755, size: 0, mtime: new Date(0) };

function toFsStat({ kind, size, mode, modifiedAt }: FileStat): FsStat {
  return { isFile: kind === "file", isDirectory: kind === "directory", isSymbolicLink: false, mode, size, mtime: new Date(modifiedAt) };
}

function toBytes(content: string | Uint8Array, options: Encoding): Uint8Array {
  if (typeof content !== "string") return content;
  const encoding = typeof options === "string" ? options : options?.encoding;
  if (encoding !== "latin1" && encoding !== "binary" && encoding !== "ascii") return new TextEncoder().encode(content);
  return fromLatin1(content);
}

const WORDS: Partial<Record<FileErrorCode, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "illegal operation on a directory",
  ENOTDIR: "not a directory",
  EEXIST: "file already exists",
  ENOTEMPTY: "directory not empty",
  ENOSPC: "no space left on device",
  EDQUOT: "disk quota exceeded",
  ENAMETOOLONG: "name too long",
  ENOSYS: "function not implemented",
  EINVAL: "invalid argument",
};

/** just-bash's commands derive their own messages from Node's. */
function makeNodeError(code: FileErrorCode, verb: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${WORDS[code] ?? "failed"}, ${verb} '${path}'`), { code });
}

function toNodeError(error: unknown, verb: string, path: string): Error {
  if (error instanceof FileError) return makeNodeError(error.code, verb, path);
  return error instanceof Error ? error : new Error(String(error));
}
