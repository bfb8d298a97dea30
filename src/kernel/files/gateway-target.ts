// The native target: runs hardware calls on the gateway's own files and shell, as the caller.

import type { Body } from "../../hardware/body.ts";
import { FileError, type Machine, NATIVE_LIMITS } from "../../hardware/filesystem.ts";
import { LinePositions } from "../../hardware/line-places.ts";
import { StorageError } from "../../ports/sql.ts";
import { type Caller, nestedCaller, isRoot } from "../../protocol/caller.ts";
import type { Account } from "../../protocol/records.ts";
import { makeDevMount } from "../../vfs/dev.ts";
import { makeDocsMounts } from "../../vfs/docs.ts";
import { makeEtcMounts } from "../../vfs/etc.ts";
import type { GitFiles } from "../../vfs/git-files.ts";
import { makeHomeMount } from "../../vfs/home.ts";
import type { Mount } from "../../vfs/mount.ts";
import { makeProcMount, type ProcProcess } from "../../vfs/proc.ts";
import { makeSysMount } from "../../vfs/sys.ts";
import { blobKey, hashFromBlobKey, makeTreeMount } from "../../vfs/tree.ts";
import { usrMount } from "../../vfs/usr.ts";
import { Vfs } from "../../vfs/vfs.ts";
import { type WorkspaceFiles, makeWorkspacesMount } from "../../vfs/workspaces.ts";
import { FileContents } from "./file-contents.ts";
import type { ReadContext } from "../context.ts";
import type { Judge } from "../agents/judge.ts";
import type { Gate } from "../gate.ts";
import type { AccountReads } from "../nouns/accounts.ts";
import { INLINE_BYTES_MAX } from "../nouns/files.ts";
import type { Workspace } from "../nouns/workspaces.ts";
import type { HardwareSyscall } from "../../hardware/calls/define.ts";
import { checkStillAllowed } from "../run.ts";
import { makeGatewayShell } from "./gateway-shell.ts";
import type { Store } from "../store.ts";

/** How long the part of an interrupted upload is kept for a retry. */
const PARTS_KEPT_MS = 3 * 24 * 60 * 60 * 1000;

export class GatewayTarget {
  readonly #store: Store;
  readonly #gate: Gate;
  readonly #judge: Judge;
  readonly #mounts: readonly Mount[];
  readonly #contents: FileContents;
  readonly #places = new LinePositions();

  /** `git`: files that are kept in repositories; it does not check rights. */
  constructor(store: Store, gate: Gate, judge: Judge, git: GitFiles) {
    const { ports, reads } = store;
    this.#store = store;
    this.#gate = gate;
    this.#judge = judge;
    const isReferenced = (key: string) => {
      const hash = hashFromBlobKey(key);
      return hash === null || reads.files.isReferenced(hash);
    };
    this.#contents = new FileContents(ports.blobs, isReferenced, () => store.durable());
    const tree = makeTreeMount({
      reads: reads.files,
      transact: (body) =>
        store.commit(({ files, after }) => {
          const value = body(files);
          const freed = files.takeFreedHashes();
          if (freed.length > 0) after(() => void this.#contents.deleteUnreferenced(freed.map(blobKey)));
          return value;
        }),
      mustHaveRoom: (who, uid, bytes, path) => {
        if (bytes <= 0 || isRoot(who) || who.mayExceedQuota === true || reads.quotas.remainingBytesOf(uid) >= bytes) return;
        throw new FileError("EDQUOT", path, reads.quotas.describeExcess(uid));
      },
      uploads: {
        set: (part, uid, bytes) => ignoreStorageError(() => store.relaxed(({ usage, now }) => usage.setPart(part, uid, bytes, now))),
        drop: (part) => ignoreStorageError(() => store.relaxed(({ usage }) => usage.dropPart(part))),
        listByUser: (uid) => reads.usage.uploadPartsOf(uid),
      },
      contents: this.#contents,
      sha256: (bytes) => ports.crypto.sha256(bytes),
      sha256Async: (bytes) => ports.crypto.sha256Async(bytes),
      now: () => ports.clock.now(),
      uuid: () => ports.crypto.uuid(),
      inlineBytesMax: INLINE_BYTES_MAX,
    });
    this.#mounts = [
      makeHomeMount({ tree, git, ownerOf: (home) => findHomeOwner(reads.accounts, home) }),
      makeWorkspacesMount({
        git,
        workspaces: (who) =>
          reads.workspaces.list(isRoot(who) ? undefined : who.uid).map((workspace) => workspaceFilesOf(reads, workspace)),
        find: (workspaceId) => {
          const workspace = reads.workspaces.get(workspaceId);
          return workspace && workspaceFilesOf(reads, workspace);
        },
      }),
      ...makeEtcMounts({
        passwd: () => reads.accounts.passwdLines(),
        shadow: () => reads.accounts.shadowLines(),
        group: () => reads.groups.list().map(({ name, gid, members }) => `${name}:x:${gid}:${members.join(",")}`),
      }),
      makeSysMount({
        configKeys: (who, prefix) => reads.config.listKeys(who, prefix),
        configValue: (who, key) => (reads.config.mayRead(who, key) ? reads.config.get(key) : undefined),
        capabilities: () => reads.capabilities.list(),
        devices: (who) => reads.devices.listDeviceFiles(who),
      }),
      makeProcMount({
        version: reads.about.version,
        uptimeMs: () => ports.clock.now() - reads.about.startedAt,
        listVisiblePids: (who) => reads.processes.list(isRoot(who) ? undefined : who.uid).map(({ pid }) => pid),
        findVisibleProcess: (who, pid) => findVisibleProcess(reads, who, pid),
        quota: (uid) => reads.quotas.get(uid),
      }),
      makeDevMount((length) => ports.crypto.randomBytes(length)),
      usrMount,
      ...makeDocsMounts(async () => (await import("./manuals.ts")).manuals),
    ];
  }

  /** Deletes the content of deleted large files, and old parts of interrupted uploads. */
  async sweep(): Promise<void> {
    const { ports } = this.#store;
    const swept = await this.#contents.sweep();
    const before = ports.clock.now() - PARTS_KEPT_MS;
    await this.#contents.dropPartsBefore(before);
    this.#store.relaxed(({ usage }) => usage.dropPartsBefore(before));
    if (swept > 0) ports.log.info("removed the content of deleted files", { swept });
  }

  /** `args` must not contain the target. */
  run(
    call: HardwareSyscall,
    caller: Caller,
    args: Record<string, unknown>,
    signal: AbortSignal,
    body?: Body,
  ): Promise<Record<string, unknown>> {
    const machine = this.#machineFor(call, caller, signal);
    return call.run(body === undefined ? machine : { ...machine, body }, args);
  }

  /** The files as the caller sees them, for the kernel's own reads and writes on the caller's behalf. */
  filesFor(caller: Caller, mayExceedQuota = false): Vfs {
    return this.#filesFor("fs.read", caller, new AbortController().signal, mayExceedQuota);
  }

  #machineFor(call: HardwareSyscall, caller: Caller, signal: AbortSignal): Machine {
    const files = this.#filesFor(call.name, caller, signal);
    const { ports } = this.#store;
    const kernel = { store: this.#store, gate: this.#gate, judge: this.#judge, filesFor: this.#filesFor.bind(this) };
    const shell = makeGatewayShell(kernel, caller, files, signal);
    const readVitals = () => ports.vitals.readMachine();
    return { files, shell, limits: NATIVE_LIMITS, now: () => ports.clock.now(), signal, places: this.#places, readVitals };
  }

  #filesFor(call: string, caller: Caller, signal: AbortSignal, mayExceedQuota = false): Vfs {
    const { uid, gid, gids, username, home, cwd, workspaceId } = caller.process;
    const runSyscall = (name: string, args: Record<string, unknown>) => this.#gate.call(nestedCaller(caller), name, args, signal);
    const checkCaller = () => checkStillAllowed(this.#store.reads, { name: call }, caller);
    return new Vfs(this.#mounts, {
      uid,
      gid,
      gids,
      username,
      home,
      cwd,
      pid: caller.agent?.pid ?? caller.connectionId,
      ...(caller.agent === undefined ? {} : { agent: caller.agent.profile }),
      workspaceId,
      mayExceedQuota,
      runSyscall,
      checkStillAllowed: checkCaller,
    });
  }
}

/** If storage has no room for the row that counts an upload, it has none for the upload either, so the error is ignored. */
function ignoreStorageError(body: () => void): void {
  try {
    body();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

/** Homes are named after their users; a directory that only looks like a home has no owner. */
function findHomeOwner(accounts: AccountReads, home: string): Account | undefined {
  const account = accounts.findByName(home.slice(home.lastIndexOf("/") + 1));
  return account?.home === home ? account : undefined;
}

/** Another user's process looks like one that does not exist; root sees all. */
function findVisibleProcess(reads: ReadContext, who: { uid: number }, pid: string): ProcProcess | null {
  const process = reads.processes.get(pid);
  if (process === undefined || (process.uid !== who.uid && !isRoot(who))) return null;
  const account = reads.accounts.findByUid(process.uid);
  if (account === undefined) return null;
  const { gid, gids } = reads.accounts.identityOf(account);
  return { ...process, gid, gids };
}

function workspaceFilesOf(reads: ReadContext, { workspaceId, ownerUid, state }: Workspace): WorkspaceFiles {
  return { workspaceId, owner: reads.accounts.findByUid(ownerUid)?.username ?? "", ownerUid, archived: state === "archived" };
}
