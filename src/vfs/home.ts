// Homes: what an agent remembers (context.d, skills.d, knowledge, CONSTITUTION.md) is kept with its history in the user's
// repository `<user>/home`, everything else in the stored tree. This mount wraps the tree: the rights of the home directory are
// checked before git is called.

import { type FileEntry, FileError } from "../hardware/filesystem.ts";
import { type GitPlace, GitTree } from "./git.ts";
import type { GitFiles } from "./git-files.ts";
import type { Mount, Who } from "./mount.ts";
import { receiveInMemory } from "./receive.ts";
import type { TreeMount } from "./tree.ts";

const IN_GIT = new Set(["CONSTITUTION.md", "context.d", "knowledge", "skills.d"]);

export type HomeSources = {
  tree: TreeMount;
  git: GitFiles;
  /** The owner of the home at this path, if it is a home. */
  ownerOf: (home: string) => { username: string; uid: number; gid: number } | undefined;
};

export function makeHomeMount({ tree, git, ownerOf }: HomeSources): Mount {
  const repositories = new GitTree(git);

  /** The repository and place of a path; null if it belongs to the tree. */
  const placeOf = (path: string): (GitPlace & { home: string }) | null => {
    const [home, names] = splitHome(path);
    if (names.length === 0 || !IN_GIT.has(names[0]!)) return null;
    const owner = ownerOf(home);
    return owner === undefined ? null : { home, repo: `${owner.username}/home`, rel: names.join("/"), path, owner };
  };

  /**
   * Checks rights as the tree does for a file in that home: the caller must be able to search every directory on the way. A file
   * that the tree already has under such a name stays in the tree until somebody moves it away.
   */
  const findReachablePlace = async (who: Who, path: string): Promise<GitPlace | null> => {
    const place = placeOf(path);
    if (place === null) return null;
    try {
      await tree.stat(who, `${place.home}/${place.rel.split("/")[0]}`);
      return null;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      if (error.code !== "ENOENT") throw new FileError(error.code, path);
      await tree.stat(who, place.home);
    }
    return place;
  };

  /** The operations of git or of the tree, depending on where the path belongs. */
  const operationsFor = async (who: Who, path: string) => {
    const place = await findReachablePlace(who, path);
    return place === null ? tree : repositories.bind(place);
  };

  return {
    at: "/",
    stat: async (who, path) => (await operationsFor(who, path)).stat(who, path),
    async list(who, path) {
      const entries = await (await operationsFor(who, path)).list(who, path);
      const owner = ownerOf(path);
      if (owner === undefined) return entries;
      return mergeEntries(entries, await repositories.list({ repo: `${owner.username}/home`, rel: "", path, owner }));
    },
    read: async (who, path, range) => (await operationsFor(who, path)).read(who, path, range),
    async readFirstBytes(who, paths, bytes) {
      const places = await Promise.all(paths.map((path) => findReachablePlace(who, path).catch(() => undefined)));
      const inGit = places.filter((place) => place !== null && place !== undefined);
      const heads = await repositories.readFirstBytes(inGit, bytes);
      const headsByPlace = new Map<GitPlace | null | undefined, Uint8Array | null>(inGit.map((place, at) => [place, heads[at] ?? null]));
      const inTree = paths.filter((_, at) => places[at] === null);
      const stored = await tree.readFirstBytes(who, inTree, bytes);
      const headsByPath = new Map(inTree.map((path, at) => [path, stored[at] ?? null]));
      return paths.map((path, at) => (places[at] === null ? headsByPath.get(path) : headsByPlace.get(places[at])) ?? null);
    },
    write: async (who, path, content, options) => (await operationsFor(who, path)).write(who, path, content, options),
    receive: async (who, path, coming) =>
      (await findReachablePlace(who, path)) === null
        ? tree.receive(who, path, coming)
        : receiveInMemory(path, coming, async (content) => (await operationsFor(who, path)).write(who, path, content, {})),
    append: async (who, path, content) => (await operationsFor(who, path)).append(who, path, content),
    remove: async (who, path) => (await operationsFor(who, path)).remove(who, path),
    makeDirectory: async (who, path) => (await operationsFor(who, path)).makeDirectory(who, path),
    async rename(who, from, to) {
      const [source, target] = [await findReachablePlace(who, from), await findReachablePlace(who, to)];
      if (source === null && target === null) return tree.rename(who, from, to);
      if (source === null || target === null || source.repo !== target.repo) throw new FileError("EXDEV", from);
      await repositories.rename(who, source, target);
    },
    setMode: async (who, path, mode) => (await operationsFor(who, path)).setMode(who, path, mode),
    setOwner: async (who, path, uid, gid) => (await operationsFor(who, path)).setOwner(who, path, uid, gid),
    setModified: async (who, path, ms) => (await operationsFor(who, path)).setModified(who, path, ms),
  };
}

/** Splits a path into the home that it may be in and the names below it. */
function splitHome(path: string): [string, string[]] {
  const [, ...names] = path.split("/");
  const length = names[0] === "home" ? 2 : 1;
  return [`/${names.slice(0, length).join("/")}`, names.slice(length)];
}

function mergeEntries(stored: FileEntry[], gitEntries: FileEntry[]): FileEntry[] {
  const storedNames = new Set(stored.map(({ name }) => name));
  return [...stored, ...gitEntries.filter(({ name }) => IN_GIT.has(name) && !storedNames.has(name))];
}
