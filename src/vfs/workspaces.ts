// /workspaces: one directory per task, each a repository `<owner>/<id>`. Its owner and root see it; to anybody else it is
// not there. What is made and put away as a whole is a workspace, by its calls; files do not do that.

import { FileError, type FileStat } from "../hardware/filesystem.ts";
import { type GitPlace, GitTree } from "./git.ts";
import type { GitFiles } from "./git-files.ts";
import type { Mount, Who } from "./mount.ts";

export type WorkspaceFiles = { workspaceId: string; owner: string; ownerUid: number; archived: boolean };

export type WorkspaceSources = {
  git: GitFiles;
  /** The caller's, archived ones too; root's are everybody's. */
  workspaces: (who: Who) => WorkspaceFiles[];
  find: (workspaceId: string) => WorkspaceFiles | undefined;
};

const AT = "/workspaces";
const ROOT: FileStat = { kind: "directory", size: 0, modifiedAt: 0, mode: 0o555, uid: 0, gid: 0, version: "" };
const FROZEN = "The workspace is archived: activate it again first";

export function workspacesMount({ git, workspaces, find }: WorkspaceSources): Mount {
  const repositories = new GitTree(git);

  /** null is the list of workspaces itself. A foreign one answers like an absent one. */
  const seek = (who: Who, path: string, look = find): GitPlace | null => {
    const [id, ...names] = path.slice(AT.length).split("/").filter(Boolean);
    if (id === undefined) return null;
    const found = look(id);
    if (found === undefined || (who.uid !== 0 && who.uid !== found.ownerUid)) throw new FileError("ENOENT", path);
    const owner = { uid: found.ownerUid, gid: found.ownerUid };
    return { repo: `${found.owner}/${id}`, rel: names.join("/"), path, owner, ...(found.archived ? { frozen: FROZEN } : {}) };
  };
  const inside = (who: Who, path: string): GitPlace => seek(who, path) ?? notAWorkspace(path);

  return {
    at: AT,
    async stat(who, path) {
      const place = seek(who, path);
      return place === null ? ROOT : repositories.stat(place);
    },
    async list(who, path) {
      const place = seek(who, path);
      if (place !== null) return repositories.list(place);
      return workspaces(who).map(({ workspaceId }) => ({ name: workspaceId, kind: "directory" }));
    },
    async read(who, path, range) {
      return repositories.read(seek(who, path) ?? raise("EISDIR", path), range);
    },
    async readHeads(who, paths, bytes) {
      // They are mostly of one workspace, which is looked for once.
      const seen = new Map<string, WorkspaceFiles | undefined>();
      const look = (id: string) => {
        if (!seen.has(id)) seen.set(id, find(id));
        return seen.get(id);
      };
      const places = paths.map((path) => seek(who, path, look) ?? notAWorkspace(path));
      return repositories.readHeads(places, bytes);
    },
    write: async (who, path, content, options) => repositories.at(adding(who, path)).write(who, path, content, options),
    append: async (who, path, content) => repositories.at(adding(who, path)).append(who, path, content),
    async makeDirectory(who, path) {
      if (path === AT) throw new FileError("EEXIST", path);
      await repositories.makeDirectory(who, adding(who, path));
    },
    async remove(who, path) {
      const place = inside(who, path);
      if (place.rel === "") throw new FileError("EPERM", path, "A workspace goes by its own calls");
      await repositories.remove(who, place);
    },
    async rename(who, from, to) {
      const [source, target] = [inside(who, from), adding(who, to)];
      if (source.repo !== target.repo) throw new FileError("EXDEV", from);
      await repositories.rename(who, source, target);
    },
    setMode: async (who, path, mode) => repositories.setMode(inside(who, path), mode),
    setOwner: async (who, path, uid, gid) => repositories.setOwner(inside(who, path), uid, gid),
    setModified: async (who, path) => repositories.setModified(who, inside(who, path)),
  };

  /** As `inside`, but says how a workspace comes to be, to whoever tries to make one as a directory. */
  function adding(who: Who, path: string): GitPlace {
    const isTop = path !== AT && !path.slice(AT.length + 1).includes("/");
    try {
      return inside(who, path);
    } catch (error) {
      if (isTop && error instanceof FileError && error.code === "ENOENT") notAWorkspace(path);
      throw error;
    }
  }
}

function notAWorkspace(path: string): never {
  throw new FileError("EPERM", path, "Workspaces are made with sys.workspace.create");
}

function raise(code: "EISDIR", path: string): never {
  throw new FileError(code, path);
}
