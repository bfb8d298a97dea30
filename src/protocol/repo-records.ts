// Records that the calls about repositories and workspaces share, as schemas.

import { z } from "zod";

export const RepoSlug = z.string({ error: "repo must be '<owner>/<name>'" }).max(256);
export const Ref = z.string().max(256);

export const RepoSummary = z.object({
  repo: z.string(),
  owner: z.string(),
  name: z.string(),
  kind: z.enum(["home", "workspace", "package", "user"]),
  writable: z.boolean(),
  public: z.boolean(),
  description: z.string().optional(),
  updatedAt: z.number().optional(),
});
export type RepoSummary = z.infer<typeof RepoSummary>;

const HunkLine = z.object({ tag: z.enum(["context", "add", "delete", "binary"]), content: z.string() });

export const RepoDiffFile = z.object({
  path: z.string(),
  status: z.enum(["added", "deleted", "modified"]),
  oldHash: z.string().optional(),
  newHash: z.string().optional(),
  hunks: z
    .array(z.object({ oldStart: z.int(), oldCount: z.int(), newStart: z.int(), newCount: z.int(), lines: z.array(HunkLine) }))
    .optional(),
});

export const DiffStats = z.object({ filesChanged: z.int(), additions: z.int(), deletions: z.int() });

/** True if there is more than is shown. */
export const Truncated = z.literal(true).optional();

export const WorkspaceKind = z.enum(["thread", "app", "shared"]);
export type WorkspaceKind = z.infer<typeof WorkspaceKind>;
export const WorkspaceState = z.enum(["active", "archived"]);
export type WorkspaceState = z.infer<typeof WorkspaceState>;

export const WorkspaceRecord = z.object({
  workspaceId: z.string(),
  ownerUid: z.int(),
  label: z.string().nullable(),
  kind: WorkspaceKind,
  state: WorkspaceState,
  createdAt: z.number(),
  updatedAt: z.number(),
});
