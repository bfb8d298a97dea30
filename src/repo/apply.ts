// Commits for callers who have no checkout: one list of operations becomes one commit, all or nothing.

import { fromBase64 } from "../lib/base64.ts";
import { fail } from "../lib/sys-error.ts";
import { type Commit, type Person, serializeCommit } from "./commit.ts";
import type { Store } from "./store.ts";
import { toBranchRef, shortRefName } from "./ref-names.ts";
import { toBytes } from "./text.ts";
import { TreeEdit } from "./tree-edit.ts";

export type ApplyOp =
  | {
      type: "put";
      path: string;
      content?: string | undefined;
      contentBase64?: string | undefined;
      bytes?: Uint8Array | undefined;
      /** The write succeeds only if the path holds this blob now. */
      ifOid?: string | undefined;
    }
  | { type: "delete"; path: string; recursive?: boolean | undefined }
  | { type: "move"; from: string; to: string };

export type ApplyRequest = {
  ref?: string | undefined;
  message: string;
  /** The commit the branch must point to now; null: the branch must not exist. */
  expectedHead?: string | null | undefined;
  allowEmpty?: boolean | undefined;
  ops: readonly ApplyOp[];
  author: Person;
  /** Milliseconds. The same request on the same head at the same time makes the same commit. */
  now: number;
};

export type ApplyResult = { ref: string; head: string | null; changed: boolean };

/** Call inside a transaction. */
export function apply(store: Store, request: ApplyRequest): ApplyResult {
  const { objects, refs, history, limits } = store;
  const name = toBranchRef(request.ref ?? "main");
  const ref = shortRefName(name);
  const message = normalizeCommitMessage(request.message, limits.messageBytes);
  if (request.ops.length > limits.applyOps) fail(413, `More than ${limits.applyOps} operations in one commit`);

  const head = refs.get(name) ?? null;
  if (request.expectedHead !== undefined && request.expectedHead !== head)
    fail(409, `Conflict on ${ref}: expected head ${request.expectedHead ?? "none"}, found ${head ?? "none"}`, {
      expectedHead: request.expectedHead,
      head,
    });

  const before = head === null ? null : history.requireNode(head).tree;
  const edit = new TreeEdit(objects, before, limits.treeEntries);
  for (const op of request.ops) applyOp(op, edit, store);
  const tree = edit.write();
  const isSame = before === null ? request.ops.length === 0 : tree === before;
  if (isSame && request.allowEmpty !== true) return { ref, head, changed: false };

  const commit = writeCommit(store, { tree, parents: head === null ? [] : [head], message, author: request.author, now: request.now });
  const fault = refs.move(name, head, commit);
  if (fault !== undefined) fail(409, `Cannot write ${ref}: ${fault}`);
  return { ref, head: commit, changed: true };
}

/** Call inside a transaction, with a message from `normalizeCommitMessage`. Moves no branch. */
export function writeCommit(
  { objects, history }: Store,
  { tree, parents, message, author, now }: Pick<Commit, "tree" | "parents" | "message"> & Pick<ApplyRequest, "author" | "now">,
): string {
  const signature = { ...author, time: Math.floor(now / 1000) };
  const commit = objects.write("commit", serializeCommit({ tree, parents, author: signature, committer: signature, message }));
  history.add(commit, tree, parents);
  return commit;
}

function applyOp(op: ApplyOp, edit: TreeEdit, { objects, limits }: Store): void {
  switch (op.type) {
    case "put": {
      const bytes = decodePutContent(op);
      if (bytes.length > limits.objectBytes) fail(413, `Too large: ${op.path} is ${bytes.length} bytes (at most ${limits.objectBytes})`);
      return edit.put(op.path, objects.write("blob", bytes), op.ifOid);
    }
    case "delete":
      return edit.delete(op.path, op.recursive === true);
    case "move":
      return edit.move(op.from, op.to);
  }
}

function decodePutContent({ path, content, contentBase64, bytes }: Extract<ApplyOp, { type: "put" }>): Uint8Array {
  const contents = [content, contentBase64, bytes].filter((value) => value !== undefined);
  if (contents.length > 1) fail(400, `put ${path} cannot specify both content and contentBase64`);
  if (content !== undefined) return toBytes(content);
  if (bytes !== undefined) return bytes;
  if (contentBase64 === undefined) fail(400, `No content for ${path}: pass content or contentBase64`);
  try {
    return fromBase64(contentBase64);
  } catch {
    fail(400, `contentBase64 of ${path} is not base64`);
  }
}

/** Returns the message as git stores it: with a newline at the end. */
export function normalizeCommitMessage(message: string, bytesMax: number): string {
  if (message.trim() === "") fail(400, "message is required");
  if (message.includes("\0")) fail(400, "A commit message must not contain a NUL");
  if (toBytes(message).length > bytesMax) fail(413, `A commit message may have at most ${bytesMax} bytes`);
  return message.endsWith("\n") ? message : `${message}\n`;
}
