// What workspaces keep of processes that are emptied (proc.reset, proc.kill): one commit with what was said, and later a second one
// with the summary that the model has rewritten. A process hands over its messages and asks its model (process/conversation/checkpoint.ts); this
// file decides which repository they go to and whether that may be written.
//
// What is to be summarized is held in memory until the model has answered. After a restart the old summary stays.

import { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { SummaryMaterial } from "../../process/conversation/checkpoint.ts";
import type { Checkpoint } from "../../process/kernel-port.ts";
import type { GitFiles } from "../../vfs/git-files.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { Store } from "../store.ts";

/** Asks the process for a new summary; null where the old one stays. */
type RenewSummary = (process: ProcessRow, material: SummaryMaterial) => Promise<string | null>;

const SUMMARY = ".gsv/summary.md";
/** No model wrote a longer one: it is somebody's text, and a few lines must not replace it. */
const SUMMARY_BYTES_MAX = 16 * 1024;

export class Checkpoints {
  readonly #store: Store;
  readonly #git: GitFiles;
  readonly #renewSummary: RenewSummary;
  /** One at a time for each workspace, because each summary is made from the one before it. */
  readonly #renewals = new KeyedMutex();

  constructor(store: Store, git: GitFiles, renewSummary: RenewSummary) {
    this.#store = store;
    this.#git = git;
    this.#renewSummary = renewSummary;
  }

  /** Whether the process works in a workspace that can be written. */
  isWanted(process: ProcessRow): boolean {
    return this.#workspaceOf(process) !== null;
  }

  /**
   * Resolves when what was said is committed, and waits for no model. Never fails: a repository that does not take the commit must not
   * keep anybody from ending a process. The log says so, and the archive has every word.
   */
  async keep(process: ProcessRow, { reason, chat, transcript }: Checkpoint): Promise<void> {
    const { pid, username } = process;
    const workspace = this.#workspaceOf(process);
    if (workspace === null) return;
    const { workspaceId, repo } = workspace;
    try {
      const put = { type: "put" as const, path: `.gsv/processes/${pid}/chat.jsonl`, content: chat };
      const isNew = await this.#git.change(repo, `gsv: checkpoint ${reason.replace(".", " ")}`, username, [put]);
      // No change means that a reset was cut off after its checkpoint and is repeated now: the model was asked then.
      if (isNew) void this.#renewals.run(workspaceId, () => this.#renew(process, transcript));
    } catch (error) {
      this.#store.ports.log.error("a workspace could not keep what was said", { pid, workspaceId, error: String(error) });
    }
  }

  async #renew(process: ProcessRow, transcript: string): Promise<void> {
    const { pid, username } = process;
    try {
      const workspace = this.#toRenew(process);
      const stat = workspace && (await this.#git.stat(workspace.repo, SUMMARY));
      if (workspace === null || (stat !== null && (stat.kind !== "file" || stat.size > SUMMARY_BYTES_MAX))) return;
      const old = await this.#git.read(workspace.repo, SUMMARY);
      const text = await this.#renewSummary(process, { transcript, summary: old === null ? "" : new TextDecoder().decode(old.bytes) });
      // The model may have taken minutes: meanwhile the workspace may have been archived or deleted, or its owner locked.
      if (text === null || this.#toRenew(process) === null) return;
      const put = { type: "put" as const, path: SUMMARY, content: new TextEncoder().encode(`${text}\n`) };
      // Fails where somebody else has written the summary meanwhile: theirs stays.
      await this.#git.change(workspace.repo, "gsv: renew summary", username, [old === null ? put : { ...put, ifOid: old.oid }]);
    } catch (error) {
      this.#store.ports.log.warn("the summary of a workspace was not renewed", {
        pid,
        workspaceId: process.workspaceId ?? "",
        error: String(error),
      });
    }
  }

  /** A locked user's processes use no model. */
  #toRenew(process: ProcessRow) {
    return this.#store.reads.accounts.byUid(process.uid)?.locked === false ? this.#workspaceOf(process) : null;
  }

  /** Null where there is none that the process's user may write. */
  #workspaceOf(process: ProcessRow): { workspaceId: string; repo: string } | null {
    const { workspaces, accounts } = this.#store.reads;
    const found = process.workspaceId === null ? undefined : workspaces.find(process, process.workspaceId);
    const owner = found && accounts.byUid(found.ownerUid);
    if (found === undefined || owner === undefined || found.state === "archived") return null;
    return { workspaceId: found.workspaceId, repo: `${owner.username}/${found.workspaceId}` };
  }
}
