// Checkpoints of processes that are reset or killed: one commit with the messages to the process's workspace, and later a second one
// with the summary that the model rewrote. The process provides its messages and calls its model
// (process/conversation/checkpoint.ts); this file decides which repository they go to and whether it may be written.
//
// The text to summarize is kept in memory until the model has answered. After a restart in between, the old summary stays.

import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { SummaryMaterial } from "../../process/conversation/checkpoint.ts";
import type { Checkpoint } from "../../process/kernel-port.ts";
import type { GitFiles } from "../../vfs/git-files.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";

/** Asks the process for a new summary; null to keep the old one. */
type RenewSummary = (process: ProcessRow, material: SummaryMaterial) => Promise<string | null>;

const SUMMARY = ".gsv/summary.md";
/** A longer summary was written by a person, not by a model, and a few generated lines must not replace it. */
const SUMMARY_BYTES_MAX = 16 * 1024;

export class Checkpoints {
  readonly #store: Store;
  readonly #git: GitFiles;
  readonly #renewSummary: RenewSummary;
  /** One renewal at a time per workspace, because each summary is made from the previous one. */
  readonly #renewals = new KeyedMutex();

  constructor(store: Store, git: GitFiles, renewSummary: RenewSummary) {
    this.#store = store;
    this.#git = git;
    this.#renewSummary = renewSummary;
  }

  /** Whether the process works in a workspace that its user may write. */
  isWanted(process: ProcessRow): boolean {
    return this.#findWritableWorkspace(process) !== null;
  }

  /**
   * Resolves when the messages are committed, without waiting for the model. Never fails: a repository that rejects the commit must not
   * prevent a reset or kill. The failure is logged, and the archive has all messages.
   */
  async store(process: ProcessRow, { reason, chat, transcript }: Checkpoint): Promise<void> {
    const { pid, username } = process;
    const workspace = this.#findWritableWorkspace(process);
    if (workspace === null) return;
    const { workspaceId, repo } = workspace;
    try {
      const put = { type: "put" as const, path: `.gsv/processes/${pid}/chat.jsonl`, content: chat };
      const isNew = await this.#git.commitChanges(repo, `gsv: checkpoint ${reason.replace(".", " ")}`, username, [put]);
      // No change: this is the retry of a reset that was interrupted after its checkpoint, and the model was asked then.
      if (isNew) void this.#renewals.run(workspaceId, () => this.#updateSummary(process, transcript));
    } catch (error) {
      this.#store.ports.log.error("a checkpoint could not be committed to the workspace", { pid, workspaceId, error: String(error) });
    }
  }

  async #updateSummary(process: ProcessRow, transcript: string): Promise<void> {
    const { pid, username } = process;
    try {
      const workspace = this.#findWorkspaceToSummarize(process);
      const stat = workspace && (await this.#git.stat(workspace.repo, SUMMARY));
      if (workspace === null || (stat !== null && (stat.kind !== "file" || stat.size > SUMMARY_BYTES_MAX))) return;
      const old = await this.#git.read(workspace.repo, SUMMARY);
      const text = await this.#renewSummary(process, { transcript, summary: old === null ? "" : new TextDecoder().decode(old.bytes) });
      // The model may take minutes: in the meantime the workspace may have been archived or deleted, or its owner locked.
      if (text === null || this.#findWorkspaceToSummarize(process) === null) return;
      const put = { type: "put" as const, path: SUMMARY, content: new TextEncoder().encode(`${text}\n`) };
      // Fails if somebody else has written the summary in the meantime: theirs stays.
      await this.#git.commitChanges(workspace.repo, "gsv: renew summary", username, [old === null ? put : { ...put, ifOid: old.oid }]);
    } catch (error) {
      this.#store.ports.log.warn("the summary of a workspace could not be renewed", {
        pid,
        workspaceId: process.workspaceId ?? "",
        error: String(error),
      });
    }
  }

  /** Null for a locked user, whose processes must not call models. */
  #findWorkspaceToSummarize(process: ProcessRow) {
    return this.#store.reads.accounts.findByUid(process.uid)?.locked === false ? this.#findWritableWorkspace(process) : null;
  }

  /** Null if the process has no workspace that its user may write. */
  #findWritableWorkspace(process: ProcessRow): { workspaceId: string; repo: string } | null {
    const { workspaces, accounts } = this.#store.reads;
    const found = process.workspaceId === null ? undefined : workspaces.find(process, process.workspaceId);
    const owner = found && accounts.findByUid(found.ownerUid);
    if (found === undefined || owner === undefined || found.state === "archived") return null;
    return { workspaceId: found.workspaceId, repo: `${owner.username}/${found.workspaceId}` };
  }
}
