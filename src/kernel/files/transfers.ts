// Runs calls that carry a body: between a socket and a target, and from target to target. A target is a device or the gateway
// itself; either way it provides one end of a body and an answer.

import { Body } from "../../hardware/body.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { deferred } from "../../lib/deferred.ts";
import type { BodyEnd, BodyNote } from "../../protocol/body.ts";
import type { Caller } from "../../protocol/caller.ts";
import { type Req, encodeSignalFrame } from "../../protocol/frames.ts";
import type { Bodies } from "./bodies.ts";
import type { GatewayTarget } from "./gateway-target.ts";
import { NATIVE } from "../../lib/target.ts";
import { TAKES_NO_KEY, resolveTargetDevice } from "../target.ts";
import type { DeviceRouter } from "../devices/device-router.ts";
import type { HardwareSyscall } from "../../hardware/calls/define.ts";
import fsDownload from "../../hardware/calls/fs/download.ts";
import fsUpload from "../../hardware/calls/fs/upload.ts";
import type { Store } from "../store.ts";
import { COPY_PROGRESS } from "../../protocol/signal-names.ts";

type Data = Record<string, unknown>;
type FileLocation = { target?: string | undefined; path: string };
export type CopyArgs = { from: FileLocation; to: FileLocation; progress?: string | undefined };
export type CopyResult = { ok: true; from: string; to: string; size: number; sha256: string; sent: number } | { ok: false; error: string };

/** Reports the progress of a copy to the caller, if it asked for that. */
type ProgressReporter = { size: number; skip: (from: number) => void; add: (bytes: number) => void };
type StartedTransfer = { near: BodyEnd; answer: Promise<Data> };

const PROGRESS_MS = 250;

export class Transfers {
  readonly #store: Store;
  readonly #bodies: Bodies;
  readonly #gatewayTarget: GatewayTarget;
  readonly #deviceRouter: DeviceRouter;

  constructor(store: Store, bodies: Bodies, gatewayTarget: GatewayTarget, deviceRouter: DeviceRouter) {
    this.#store = store;
    this.#bodies = bodies;
    this.#gatewayTarget = gatewayTarget;
    this.#deviceRouter = deviceRouter;
  }

  /** Runs an upload or download; the caller's own socket is the other end. */
  async run(call: HardwareSyscall, caller: Caller, args: Data, frame: Req, signal: AbortSignal): Promise<Data> {
    const { connectionId } = caller;
    // A retry with the same tag resumes where the last one stopped, so a key is not needed.
    if (frame.key !== undefined) fail(400, `${call.name} takes no key: to retry, call it again with the same tag`, TAKES_NO_KEY);
    if (frame.id === "" || this.#store.ports.sockets.peer(connectionId) === undefined)
      fail(400, `${call.name} needs a socket of the caller's own: use fs.copy`);
    const id = Number(args.body);
    const wire: { near: BodyEnd | null } = { near: null };
    const callerEnd = this.#bodies.connect(connectionId, id, makeLateEnd(wire), () => {});
    try {
      const { near, answer } = this.#start(call, caller, args, frame.id, callerEnd, signal);
      wire.near = near;
      return await answer;
    } finally {
      wire.near?.acceptNote({ kind: "stop", why: "The call has ended" });
      this.#bodies.disconnect(connectionId, id);
    }
  }

  async copy(caller: Caller, { from, to, progress }: CopyArgs, signal: AbortSignal): Promise<CopyResult> {
    const begin = deferred<Extract<BodyNote, { kind: "begin" }>>();
    const destination: { near: BodyEnd | null } = { near: null };
    const tracker = this.#trackProgress(caller, progress);
    const source = this.#start(fsDownload, caller, from, "", makeSourceEnd(makeLateEnd(destination), begin.resolve, tracker.add), signal);
    const stop = (why: string) => {
      source.near.acceptNote({ kind: "stop", why });
      destination.near?.acceptNote({ kind: "stop", why });
    };
    const onAbort = () => stop("The call was cancelled");
    signal.addEventListener("abort", onAbort, { once: true });
    // If the upload never starts, nobody awaits this promise.
    source.answer.catch(() => {});
    try {
      const first = await Promise.race([begin.promise, source.answer]);
      if (!isBegin(first)) return makeFailureResult(from, first);
      tracker.size = first.size;
      const { size } = first;
      const mode = first.mode & 0o777;
      const args = { ...to, size, mode, ...(first.version === "" ? {} : { tag: this.#resumeId(caller, from, first.version) }) };
      const toSource: BodyEnd = {
        acceptChunk: () => {},
        acceptNote: (note) => {
          if (note.kind === "more") tracker.skip(note.from);
          source.near.acceptNote(note);
        },
      };
      const sink = this.#start(fsUpload, caller, args, "", toSource, signal);
      destination.near = sink.near;
      const failures: (() => CopyResult)[] = [];
      const settle = async (location: FileLocation, answer: Promise<Data>, why: string) => {
        const data = await answer.catch((error: unknown) => {
          failures.push(() => {
            throw error;
          });
          return null;
        });
        if (data !== null && data.ok !== true) failures.push(() => makeFailureResult(location, data));
        if (data?.ok !== true) stop(why);
        return data;
      };
      const [read, written] = await Promise.all([
        settle(from, source.answer, "The source could not be read to the end"),
        settle(to, sink.answer, "The destination could not be written to the end"),
      ]);
      // The first failure is the cause; the other side failed only because of it.
      if (failures[0] !== undefined) return failures[0]();
      const { path, sha256, received } = written as { path: string; sha256: string; received: number };
      return { ok: true, from: String(read?.path), to: path, size, sha256, sent: received };
    } finally {
      signal.removeEventListener("abort", onAbort);
      stop("The copy has ended");
    }
  }

  #start(
    call: HardwareSyscall,
    caller: Caller,
    { target, ...args }: Data & { target?: string | undefined },
    requestId: string,
    far: BodyEnd,
    signal: AbortSignal,
  ): StartedTransfer {
    const device = resolveTargetDevice(this.#store.reads, caller, call, target === undefined ? {} : { target });
    if (device === null) {
      const body = new Body(far, () => this.#store.ports.crypto.newSha256());
      return { near: body, answer: this.#gatewayTarget.run(call, caller, args, signal, body) };
    }
    const wire: { near: BodyEnd | null } = { near: null };
    const answer = this.#deviceRouter.forward(call.name, caller, { id: requestId }, device, args, signal, (driverId, onActivity) => {
      const id = this.#bodies.newId(driverId);
      wire.near = this.#bodies.connect(driverId, id, far, onActivity);
      return { args: { body: id }, end: () => this.#bodies.disconnect(driverId, id) };
    });
    return { near: makeLateEnd(wire), answer };
  }

  /** Equal for the same version of the same file and the same user, so an interrupted copy can be resumed. */
  #resumeId({ uid }: Caller, { target = NATIVE, path }: FileLocation, version: string): string {
    return toHex(this.#store.ports.crypto.sha256(JSON.stringify([uid, target, path, version])));
  }

  #trackProgress({ connectionId }: Caller, name: string | undefined): ProgressReporter {
    const { sockets, clock } = this.#store.ports;
    let bytes = 0;
    let reportedAt = 0;
    const tracker: ProgressReporter = {
      size: 0,
      skip: (from: number) => {
        bytes ||= from;
      },
      add: (count: number) => {
        bytes += count;
        if (name === undefined || clock.now() - reportedAt < PROGRESS_MS) return;
        reportedAt = clock.now();
        sockets.send(connectionId, encodeSignalFrame(COPY_PROGRESS, { name, bytes, size: tracker.size }));
      },
    };
    return tracker;
  }
}

/** An end that is connected later; chunks and notes that arrive before that are dropped, which is harmless. */
function makeLateEnd(wire: { near: BodyEnd | null }): BodyEnd {
  return { acceptChunk: (bytes) => wire.near?.acceptChunk(bytes), acceptNote: (note) => wire.near?.acceptNote(note) };
}

function makeSourceEnd(
  to: BodyEnd,
  onBegin: (note: Extract<BodyNote, { kind: "begin" }>) => void,
  onSent: (bytes: number) => void,
): BodyEnd {
  return {
    acceptChunk(bytes) {
      onSent(bytes.length);
      to.acceptChunk(bytes);
    },
    acceptNote: (note) => (note.kind === "begin" ? onBegin(note) : to.acceptNote(note)),
  };
}

function isBegin(first: Data | Extract<BodyNote, { kind: "begin" }>): first is Extract<BodyNote, { kind: "begin" }> {
  return first.kind === "begin";
}

function makeFailureResult({ target = NATIVE }: FileLocation, data: Data): { ok: false; error: string } {
  return { ok: false, error: `${target}: ${typeof data.error === "string" ? data.error : "It failed without giving a reason"}` };
}
