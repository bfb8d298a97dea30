// Calls that carry a body: between a socket and a target, and from target to target. A target is a device or the gateway
// itself; either way it is one end of a body and an answer.

import { Body } from "../../hardware/body.ts";
import { toHex } from "../../lib/hex.ts";
import { fail } from "../../lib/sys-error.ts";
import { deferred } from "../../lib/deferred.ts";
import type { BodyEnd, BodyNote } from "../../protocol/body.ts";
import type { Caller } from "../../protocol/caller.ts";
import { type Req, signalFrame } from "../../protocol/frames.ts";
import type { Bodies } from "./bodies.ts";
import type { GatewayTarget } from "./gateway-target.ts";
import { NATIVE } from "../../lib/target.ts";
import { TAKES_NO_KEY, targetOf } from "../target.ts";
import type { DeviceRouter } from "../devices/device-router.ts";
import type { HardwareSyscall } from "../../hardware/calls/define.ts";
import fsDownload from "../../hardware/calls/fs/download.ts";
import fsUpload from "../../hardware/calls/fs/upload.ts";
import type { Store } from "../store.ts";
import { COPY_PROGRESS } from "../../protocol/signal-names.ts";

type Data = Record<string, unknown>;
type Place = { target?: string | undefined; path: string };
export type CopyArgs = { from: Place; to: Place; progress?: string | undefined };
export type CopyResult = { ok: true; from: string; to: string; size: number; sha256: string; sent: number } | { ok: false; error: string };

/** Tells the caller how far it is, if it wants to know. */
type Watch = { size: number; began: (from: number) => void; sent: (bytes: number) => void };
type Started = { near: BodyEnd; answer: Promise<Data> };

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

  /** The caller's own socket is the other end. */
  async run(call: HardwareSyscall, caller: Caller, args: Data, frame: Req, signal: AbortSignal): Promise<Data> {
    const { connectionId } = caller;
    // What came of it under the same tag is not sent again, so nothing is lost without one.
    if (frame.key !== undefined) fail(400, `${call.name} takes no key: call it again with the same tag`, TAKES_NO_KEY);
    if (frame.id === "" || this.#store.ports.sockets.peer(connectionId) === undefined)
      fail(400, `${call.name} needs a socket of the caller's own: use fs.copy`);
    const id = Number(args.body);
    const wire: { near: BodyEnd | null } = { near: null };
    const own = this.#bodies.join(connectionId, id, late(wire), () => {});
    try {
      const { near, answer } = this.#start(call, caller, args, frame.id, own, signal);
      wire.near = near;
      return await answer;
    } finally {
      wire.near?.note({ kind: "stop", why: "The call has ended" });
      this.#bodies.part(connectionId, id);
    }
  }

  async copy(caller: Caller, { from, to, progress }: CopyArgs, signal: AbortSignal): Promise<CopyResult> {
    const begun = deferred<Extract<BodyNote, { kind: "begin" }>>();
    const destination: { near: BodyEnd | null } = { near: null };
    const watch = this.#watch(caller, progress);
    const source = this.#start(fsDownload, caller, from, "", sourceEnd(late(destination), begun.resolve, watch.sent), signal);
    const stop = (why: string) => {
      source.near.note({ kind: "stop", why });
      destination.near?.note({ kind: "stop", why });
    };
    const aborted = () => stop("The caller went away");
    signal.addEventListener("abort", aborted, { once: true });
    // Where the other end never comes to be, nobody waits for this one.
    source.answer.catch(() => {});
    try {
      const first = await Promise.race([begun.promise, source.answer]);
      if (!isBegin(first)) return failure(from, first);
      watch.size = first.size;
      const { size } = first;
      const mode = first.mode & 0o777;
      const args = { ...to, size, mode, ...(first.version === "" ? {} : { tag: this.#tag(caller, from, first.version) }) };
      const back: BodyEnd = {
        chunk: () => {},
        note: (note) => {
          if (note.kind === "more") watch.began(note.from);
          source.near.note(note);
        },
      };
      const sink = this.#start(fsUpload, caller, args, "", back, signal);
      destination.near = sink.near;
      const broken: (() => CopyResult)[] = [];
      const ended = async (place: Place, answer: Promise<Data>, why: string) => {
        const data = await answer.catch((error: unknown) => {
          broken.push(() => {
            throw error;
          });
          return null;
        });
        if (data !== null && data.ok !== true) broken.push(() => failure(place, data));
        if (data?.ok !== true) stop(why);
        return data;
      };
      const [read, written] = await Promise.all([
        ended(from, source.answer, "It could not be read to its end"),
        ended(to, sink.answer, "It could not be written to its end"),
      ]);
      // Whichever failed first is the reason; the other only ended because of it.
      if (broken[0] !== undefined) return broken[0]();
      const { path, sha256, received } = written as { path: string; sha256: string; received: number };
      return { ok: true, from: String(read?.path), to: path, size, sha256, sent: received };
    } finally {
      signal.removeEventListener("abort", aborted);
      stop("The copy is over");
    }
  }

  #start(
    call: HardwareSyscall,
    caller: Caller,
    { target, ...args }: Data & { target?: string | undefined },
    requestId: string,
    far: BodyEnd,
    signal: AbortSignal,
  ): Started {
    const device = targetOf(this.#store.reads, caller, call, target === undefined ? {} : { target });
    if (device === null) {
      const body = new Body(far, () => this.#store.ports.crypto.sha256Pieces());
      return { near: body, answer: this.#gatewayTarget.run(call, caller, args, signal, body) };
    }
    const wire: { near: BodyEnd | null } = { near: null };
    const answer = this.#deviceRouter.forward(call.name, caller, { id: requestId }, device, args, signal, (driverId, heard) => {
      const id = this.#bodies.newId(driverId);
      wire.near = this.#bodies.join(driverId, id, far, heard);
      return { args: { body: id }, end: () => this.#bodies.part(driverId, id) };
    });
    return { near: late(wire), answer };
  }

  /** The same version of the same file, for the same user: what came of it earlier is the beginning of it. */
  #tag({ uid }: Caller, { target = NATIVE, path }: Place, version: string): string {
    return toHex(this.#store.ports.crypto.sha256(JSON.stringify([uid, target, path, version])));
  }

  #watch({ connectionId }: Caller, name: string | undefined): Watch {
    const { sockets, clock } = this.#store.ports;
    let bytes = 0;
    let toldAt = 0;
    const watch: Watch = {
      size: 0,
      began: (from: number) => {
        bytes ||= from;
      },
      sent: (count: number) => {
        bytes += count;
        if (name === undefined || clock.now() - toldAt < PROGRESS_MS) return;
        toldAt = clock.now();
        sockets.send(connectionId, signalFrame(COPY_PROGRESS, { name, bytes, size: watch.size }));
      },
    };
    return watch;
  }
}

/** An end that is not there yet: what is said to it meanwhile is of no consequence. */
function late(wire: { near: BodyEnd | null }): BodyEnd {
  return { chunk: (bytes) => wire.near?.chunk(bytes), note: (note) => wire.near?.note(note) };
}

function sourceEnd(to: BodyEnd, begun: (note: Extract<BodyNote, { kind: "begin" }>) => void, sent: (bytes: number) => void): BodyEnd {
  return {
    chunk(bytes) {
      sent(bytes.length);
      to.chunk(bytes);
    },
    note: (note) => (note.kind === "begin" ? begun(note) : to.note(note)),
  };
}

function isBegin(first: Data | Extract<BodyNote, { kind: "begin" }>): first is Extract<BodyNote, { kind: "begin" }> {
  return first.kind === "begin";
}

function failure({ target = NATIVE }: Place, data: Data): { ok: false; error: string } {
  return { ok: false, error: `${target}: ${typeof data.error === "string" ? data.error : "It ended without saying why"}` };
}
