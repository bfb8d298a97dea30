// A repository as shown in lists.

import type { RepoSummary } from "../../protocol/repo-records.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";

export function repoSummaryOf(row: RepositoryRow, writable: boolean): RepoSummary {
  const { repo, owner, name, kind, public: isPublic, description, updatedAt } = row;
  const summary: RepoSummary = { repo, owner, name, kind, writable, public: isPublic };
  if (description !== null) summary.description = description;
  // Homes that are older than repositories have no update time until their first change.
  if (updatedAt > 0) summary.updatedAt = updatedAt;
  return summary;
}
