// Stores builds: each in a folder of its own that never changes, with `dist` as a link to the newest. A gateway loads parts of
// its program when they are first needed, so its build is kept while it runs, whatever is built meanwhile. A program marks the
// build it runs from by a file with its pid (src/cli/build-in-use.ts).

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { isAlive } from "./lock.mjs";

const SIGNATURE = ".built";
/** src/cli/build-in-use.ts uses the same name. */
const USERS = ".users";
/** A program that has just started may not have marked its build yet. */
const KEEP_MS = 10 * 60_000;

export class Builds {
  #folder;
  #link;

  /** `link` is the path under which programs find the newest build. */
  constructor(folder, link) {
    this.#folder = folder;
    this.#link = link;
  }

  isCurrent(signature) {
    try {
      return readFileSync(join(this.#link, SIGNATURE), "utf8") === signature;
    } catch {
      return false;
    }
  }

  /** Calls `build` with an empty folder, then makes that folder the newest build. */
  async add(signature, build) {
    const name = signature.slice(0, 16);
    const folder = join(this.#folder, name);
    if (!isDirectory(folder)) {
      const partial = `${folder}.partial`;
      rmSync(partial, { recursive: true, force: true });
      mkdirSync(partial, { recursive: true });
      await build(partial);
      mkdirSync(join(partial, USERS), { recursive: true });
      writeFileSync(join(partial, SIGNATURE), signature);
      renameSync(partial, folder);
    }
    this.#pointLinkTo(folder);
    this.#prune(name);
  }

  #pointLinkTo(folder) {
    const before = this.#linkTarget();
    if (before !== null) utimesSync(before, new Date(), new Date());
    // Older versions had a real folder here.
    if (before === null) rmSync(this.#link, { recursive: true, force: true });
    const next = `${this.#link}.next`;
    rmSync(next, { force: true });
    symlinkSync(relative(dirname(this.#link), folder), next, "junction");
    if (process.platform === "win32") rmSync(this.#link, { force: true });
    renameSync(next, this.#link);
  }

  #linkTarget() {
    if (!lstatSync(this.#link, { throwIfNoEntry: false })?.isSymbolicLink()) return null;
    const target = resolve(dirname(this.#link), readlinkSync(this.#link));
    return isDirectory(target) ? target : null;
  }

  #prune(current) {
    for (const name of readdirSync(this.#folder)) {
      const folder = join(this.#folder, name);
      if (name === current || Date.now() - statSync(folder).mtimeMs < KEEP_MS || hasUsers(folder)) continue;
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function hasUsers(folder) {
  const users = join(folder, USERS);
  return isDirectory(users) && readdirSync(users).some((name) => isAlive(Number(name)));
}

function isDirectory(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
