// A small disk, where the system allows mounting one, and a file on it that takes the free space.

import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, fstatSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

export class SmallDisk {
  readonly path: string;
  readonly #balloon: string;

  private constructor(path: string) {
    this.path = path;
    this.#balloon = join(path, "balloon");
  }

  /** Null if this process may not mount one. */
  static mount(path: string, bytes: number): SmallDisk | null {
    mkdirSync(path);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes},mode=700`, "gsv-trust-disk", path], { stdio: "ignore" });
      return new SmallDisk(path);
    } catch {
      return null;
    }
  }

  get freeBytes(): number {
    const { bsize, bavail } = statfsSync(this.path);
    return bsize * bavail;
  }

  /** Takes all free space but `leaveBytes`. */
  fill(leaveBytes: number): void {
    const file = openSync(this.#balloon, "a", 0o600);
    try {
      const air = Buffer.alloc(64 * 1024, 1);
      for (let size = air.length; size >= 1; size = Math.floor(size / 2)) while (tryWrite(file, air.subarray(0, size)));
      ftruncateSync(file, Math.max(0, fstatSync(file).size - leaveBytes));
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#balloon, { force: true });
  }

  unmount(): void {
    execFileSync("umount", ["-l", this.path], { stdio: "ignore" });
  }
}

function tryWrite(file: number, bytes: Uint8Array): boolean {
  try {
    return writeSync(file, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
