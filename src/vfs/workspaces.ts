// /workspaces: one directory per task, each a repository `<owner>/<id>`. Only its owner and root see it. Workspaces are created
// and archived with calls, not as directories.

import { FileError, type FileStat } from "../hardware/filesystem.ts";
import { type GitPlace, GitTree } from "./git.ts";
import type { GitFiles } from "./git-files.ts";
import type { Mount, Who } from "./mount.ts";

export type WorkspaceFiles = { workspaceId: string; owner: string; ownerUid: number; archived: boolean };

export type WorkspaceSources = {
  git: GitFiles;
  /** The caller's workspaces, including archived ones; for root, everybody's. */
  workspaces: (who: Who) => WorkspaceFiles[];
  find: (workspaceId: string) => WorkspaceFiles | undefined;
};

const AT = "/workspaces";
const ROOT: FileStat = { kind: "directory", size: 0, modifiedAt: 0, mode: 0o555, uid: 0, gid: 0, version: "" };
const FROZEN = "The workspace is archived: activate it again first";

export function makeWorkspacesMount({ git, workspaces, find }: WorkspaceSources): Mount {
  const repositories = new GitTree(git);

  /** null for /workspaces itself. Another user's workspace looks like a missing one. */
  const findPlace = (who: Who, path: string, look = find): GitPlace | null => {
    const [id, ...names] = path.slice(AT.length).split("/").filter(Boolean);
    if (id === undefined) return null;
    const found = look(id);
    if (found === undefined || (who.uid !== 0 && who.uid !== found.ownerUid)) throw new FileError("ENOENT", path);
    const owner = { uid: found.ownerUid, gid: found.ownerUid };
    return { repo: `${found.owner}/${id}`, rel: names.join("/"), path, owner, ...(found.archived ? { frozen: FROZEN } : {}) };
  };
  const requirePlace = (who: Who, path: string): GitPlace => findPlace(who, path) ?? refuseCreation(path);

  return {
    at: AT,
    async stat(who, path) {
      const place = findPlace(who, path);
      return place === null ? ROOT : repositories.stat(place);
    },
    async list(who, path) {
      const place = findPlace(who, path);
      if (place !== null) return repositories.list(place);
      return workspaces(who).map(({ workspaceId }) => ({ name: workspaceId, kind: "directory" }));
    },
    async read(who, path, range) {
      return repositories.read(findPlace(who, path) ?? raise("EISDIR", path), range);
    },
    async readFirstBytes(who, paths, bytes) {
      // The paths are mostly in one workspace, which is looked up once.
      const cache = new Map<string, WorkspaceFiles | undefined>();
      const findCached = (id: string) => {
        if (!cache.has(id)) cache.set(id, find(id));
        return cache.get(id);
      };
      const places = paths.map((path) => findPlace(who, path, findCached) ?? refuseCreation(path));
      return repositories.readFirstBytes(places, bytes);
    },
    write: async (who, path, content, options) => repositories.bind(requirePlaceToAdd(who, path)).write(who, path, content, options),
    append: async (who, path, content) => repositories.bind(requirePlaceToAdd(who, path)).append(who, path, content),
    async makeDirectory(who, path) {
      if (path === AT) throw new FileError("EEXIST", path);
      await repositories.makeDirectory(who, requirePlaceToAdd(who, path));
    },
    async remove(who, path) {
      const place = requirePlace(who, path);
      if (place.rel === "") throw new FileError("EPERM", path, "A workspace cannot be removed: archive it with sys.workspace.update");
      await repositories.remove(who, place);
    },
    async rename(who, from, to) {
      const [source, target] = [requirePlace(who, from), requirePlaceToAdd(who, to)];
      if (source.repo !== target.repo) throw new FileError("EXDEV", from);
      await repositories.rename(who, source, target);
    },
    setMode: async (who, path, mode) => repositories.setMode(requirePlace(who, path), mode),
    setOwner: async (who, path, uid, gid) => repositories.setOwner(requirePlace(who, path), uid, gid),
    setModified: async (who, path) => repositories.setModified(who, requirePlace(who, path)),
  };

  /** As `requirePlace`, but tells a caller who tries to create a workspace as a directory how to do it. */
  function requirePlaceToAdd(who: Who, path: string): GitPlace {
    const isTop = path !== AT && !path.slice(AT.length + 1).includes("/");
    try {
      return requirePlace(who, path);
    } catch (error) {
      if (isTop && error instanceof FileError && error.code === "ENOENT") refuseCreation(path);
      throw error;
    }
  }
}

function refuseCreation(path: string): never {
  throw new FileError("EPERM", path, "Create workspaces with sys.workspace.create");
}

function raise(code: "EISDIR", path: string): never {
  throw new FileError(code, path);
}
