// A repository as it is listed.

import type { RepoSummary } from "../../protocol/repo-records.ts";
import type { RepositoryRow } from "../nouns/repositories.ts";

export function summaryOf(row: RepositoryRow, writable: boolean): RepoSummary {
  const { repo, owner, name, kind, public: isPublic, description, updatedAt } = row;
  const summary: RepoSummary = { repo, owner, name, kind, writable, public: isPublic };
  if (description !== null) summary.description = description;
  // Homes from before there were repositories have never been touched.
  if (updatedAt > 0) summary.updatedAt = updatedAt;
  return summary;
}
