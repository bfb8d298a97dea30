// Homes: what an agent remembers (context.d, skills.d, knowledge, CONSTITUTION.md) is kept with its history in the user's
// repository `<user>/home`, everything else in the stored tree. Wraps the tree: a home's own directory decides who gets in,
// before git is asked anything.

import { type FileEntry, FileError } from "../hardware/filesystem.ts";
import { type GitPlace, GitTree } from "./git.ts";
import type { GitFiles } from "./git-files.ts";
import type { Mount, Who } from "./mount.ts";
import { held } from "./receive.ts";
import type { TreeMount } from "./tree.ts";

const IN_GIT = new Set(["CONSTITUTION.md", "context.d", "knowledge", "skills.d"]);

export type HomeSources = {
  tree: TreeMount;
  git: GitFiles;
  /** Whose home is at this path, if it is one. */
  ownerOf: (home: string) => { username: string; uid: number; gid: number } | undefined;
};

export function homeMount({ tree, git, ownerOf }: HomeSources): Mount {
  const repositories = new GitTree(git);

  /** Where in which repository a path is; null where it is the tree's. */
  const placeOf = (path: string): (GitPlace & { home: string }) | null => {
    const [home, names] = split(path);
    if (names.length === 0 || !IN_GIT.has(names[0]!)) return null;
    const owner = ownerOf(home);
    return owner === undefined ? null : { home, repo: `${owner.username}/home`, rel: names.join("/"), path, owner };
  };

  /**
   * As the tree would judge a file in that home: every directory on the way may be searched. What the tree holds under such
   * a name since before there was git stays where it is, until somebody moves it away.
   */
  const enter = async (who: Who, path: string): Promise<GitPlace | null> => {
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

  /** In git where it belongs there, else in the tree. */
  const at = async (who: Who, path: string) => {
    const place = await enter(who, path);
    return place === null ? tree : repositories.at(place);
  };

  return {
    at: "/",
    stat: async (who, path) => (await at(who, path)).stat(who, path),
    async list(who, path) {
      const entries = await (await at(who, path)).list(who, path);
      const owner = ownerOf(path);
      if (owner === undefined) return entries;
      return merged(entries, await repositories.list({ repo: `${owner.username}/home`, rel: "", path, owner }));
    },
    read: async (who, path, range) => (await at(who, path)).read(who, path, range),
    async readHeads(who, paths, bytes) {
      const places = await Promise.all(paths.map((path) => enter(who, path).catch(() => undefined)));
      const inGit = places.filter((place) => place !== null && place !== undefined);
      const heads = await repositories.readHeads(inGit, bytes);
      const ofPlace = new Map<GitPlace | null | undefined, Uint8Array | null>(inGit.map((place, at) => [place, heads[at] ?? null]));
      const inTree = paths.filter((_, at) => places[at] === null);
      const stored = await tree.readHeads(who, inTree, bytes);
      const ofPath = new Map(inTree.map((path, at) => [path, stored[at] ?? null]));
      return paths.map((path, at) => (places[at] === null ? ofPath.get(path) : ofPlace.get(places[at])) ?? null);
    },
    write: async (who, path, content, options) => (await at(who, path)).write(who, path, content, options),
    receive: async (who, path, coming) =>
      (await enter(who, path)) === null
        ? tree.receive(who, path, coming)
        : held(path, coming, async (content) => (await at(who, path)).write(who, path, content, {})),
    append: async (who, path, content) => (await at(who, path)).append(who, path, content),
    remove: async (who, path) => (await at(who, path)).remove(who, path),
    makeDirectory: async (who, path) => (await at(who, path)).makeDirectory(who, path),
    async rename(who, from, to) {
      const [source, target] = [await enter(who, from), await enter(who, to)];
      if (source === null && target === null) return tree.rename(who, from, to);
      if (source === null || target === null || source.repo !== target.repo) throw new FileError("EXDEV", from);
      await repositories.rename(who, source, target);
    },
    setMode: async (who, path, mode) => (await at(who, path)).setMode(who, path, mode),
    setOwner: async (who, path, uid, gid) => (await at(who, path)).setOwner(who, path, uid, gid),
    setModified: async (who, path, ms) => (await at(who, path)).setModified(who, path, ms),
  };
}

/** A path as the home it may be in and the names below that. */
function split(path: string): [string, string[]] {
  const [, ...names] = path.split("/");
  const length = names[0] === "home" ? 2 : 1;
  return [`/${names.slice(0, length).join("/")}`, names.slice(length)];
}

function merged(stored: FileEntry[], kept: FileEntry[]): FileEntry[] {
  const taken = new Set(stored.map(({ name }) => name));
  return [...stored, ...kept.filter(({ name }) => IN_GIT.has(name) && !taken.has(name))];
}
