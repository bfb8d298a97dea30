// The Actors port: repositories in a few threads of this process, so that their work never blocks the kernel. A repository is
// always on the same thread. Threads start on demand and exit after an idle time; one that dies fails its open calls, and the
// next request restarts it.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { SysError } from "../../lib/sys-error.ts";
import type { ActorHttp, ActorRequest, ActorResponse, RepositoryActors } from "../../ports/actors.ts";
import type { Log } from "../../ports/log.ts";
import { errorOf, replyOf } from "../../ports/reply.ts";
import { makeFolder } from "./folders.ts";
import type { HttpAnswer, FetchedResponse, FromThread, ToThread } from "./repo-messages.ts";
import { type StreamMessage, Streams } from "./streams.ts";

export type ReposOptions = {
  /** Folder of the files. */
  folder: string;
  log: Log;
  /** Called with errors after which a file must not be trusted before the whole gateway restarts. */
  onFatalError: (error: unknown) => void;
  idleMs?: number;
  heapMb?: number;
};

const THREADS = 2;
const IDLE_MS = 30_000;
const EXIT_MS = 5_000;
/** Limit of the JavaScript heap; only the thread that exceeds it dies. */
const HEAP_MB_MAX = 512;

export class NodeRepos implements RepositoryActors {
  readonly #options: ReposOptions;
  readonly #threads: Thread[];
  #hasFolder = false;

  constructor(options: ReposOptions) {
    this.#options = options;
    this.#threads = Array.from({ length: THREADS }, () => new Thread(options));
  }

  call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown> {
    return this.#threadOf(address).call(this.#fileOf(address), name, args, http);
  }

  fetch(address: string, request: ActorRequest): Promise<ActorResponse> {
    return this.#threadOf(address).fetch(this.#fileOf(address), request);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #threadOf(address: string): Thread {
    return this.#threads[digest(address).readUInt32BE() % this.#threads.length]!;
  }

  /**
   * Names may differ only in case or hold characters a folder does not allow, so the hash makes the file name unique and the rest
   * is for people.
   */
  #fileOf(address: string): string {
    const { folder } = this.#options;
    if (!this.#hasFolder) makeFolder(folder);
    this.#hasFolder = true;
    const readable = address
      .toLowerCase()
      .replace(/^repo:/, "")
      .replace(/[^a-z0-9_-]+/g, "_")
      .slice(0, 60);
    return join(folder, `${readable}-${digest(address).toString("hex", 0, 16)}.db`);
  }
}

type PendingCall = { resolve: (value: unknown) => void; reject: (error: Error) => void; http: ActorHttp | undefined };

class Thread {
  readonly #options: ReposOptions;
  readonly #pending = new Map<number, PendingCall>();
  #worker: Worker | null = null;
  #streams: Streams = new Streams(() => {});
  /** Resolves when the stopped worker has exited: two must never have the same file open. */
  #exited: Promise<void> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isClosed = false;

  constructor(options: ReposOptions) {
    this.#options = options;
  }

  call(file: string, name: string, args: object, http: ActorHttp | undefined): Promise<unknown> {
    return this.#ask(http, (id) => ({ type: "call", id, file, name, args }));
  }

  async fetch(file: string, request: ActorRequest): Promise<ActorResponse> {
    const { body } = request;
    try {
      const fetched = (await this.#ask(undefined, (id) => ({
        type: "fetch",
        id,
        file,
        request: { ...request, body: body === null ? null : this.#streams.send(body) },
      }))) as FetchedResponse;
      return { ...fetched, body: this.#streams.receive(fetched.body) };
    } catch (error) {
      if (body !== null && !body.locked) body.cancel().catch(() => {});
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#exited;
  }

  async #ask(http: ActorHttp | undefined, message: (id: number) => ToThread): Promise<unknown> {
    await this.#exited;
    if (this.#isClosed) throw new SysError(503, "The gateway is shutting down");
    this.#worker ??= this.#start();
    clearTimeout(this.#idleTimer);
    const id = ++this.#lastId;
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, http });
      worker.postMessage(message(id), []);
    }).finally(() => this.#scheduleStop());
  }

  #start(): Worker {
    const worker = new Worker(threadUrl(), {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? HEAP_MB_MAX },
      execArgv: [],
    });
    const post = (message: ToThread, transfer: ArrayBuffer[] = []) => worker.postMessage(message, transfer);
    const streams = new Streams(post);
    this.#streams = streams;
    worker.on("message", (message: FromThread) => this.#onMessage(message, streams, post));
    worker.on("error", (error) => this.#options.log.error("a repository thread failed", { error: String(error.stack ?? error) }));
    worker.on("exit", () => {
      const error = new SysError(503, "The repository had to be restarted: try again");
      if (this.#worker === worker) {
        this.#worker = null;
        for (const { reject } of this.#pending.values()) reject(error);
        this.#pending.clear();
      }
      streams.endAll(error);
    });
    return worker;
  }

  #onMessage(message: FromThread, streams: Streams, post: (message: ToThread) => void): void {
    switch (message.type) {
      case "answer": {
        const pending = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (message.reply.ok) pending?.resolve(message.reply.value);
        else pending?.reject(errorOf(message.reply.failure));
        return;
      }
      case "http":
        void replyOf(this.#fetchForThread(message, streams)).then((reply) => post({ type: "http", id: message.id, reply }));
        return;
      case "fatal":
        return this.#options.onFatalError(new Error(message.message));
      default:
        streams.handleMessage(message satisfies StreamMessage);
        return this.#scheduleStop();
    }
  }

  async #fetchForThread({ call, url, request }: Extract<FromThread, { type: "http" }>, streams: Streams): Promise<HttpAnswer> {
    const http = this.#pending.get(call)?.http;
    if (http === undefined) throw new SysError(503, "This call may not use the network");
    const { status, headers, body, url: from } = await http(url, request);
    return { status, headers, url: from, body: streams.send(body) };
  }

  /** Stops an idle thread after a while. */
  #scheduleStop(): void {
    clearTimeout(this.#idleTimer);
    if (this.#worker === null || this.#pending.size > 0 || this.#streams.size > 0) return;
    this.#idleTimer = setTimeout(() => this.#stop(), this.#options.idleMs ?? IDLE_MS).unref();
  }

  #stop(): void {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const error = new SysError(503, "The gateway is shutting down");
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    const killTimer = setTimeout(() => void worker.terminate(), EXIT_MS);
    worker.postMessage({ type: "close" } satisfies ToThread, []);
    this.#exited = exited.then(() => clearTimeout(killTimer));
  }
}

/** The entry is beside this file in the sources; in a bundle this file is a chunk, and entries are one folder up. */
function threadUrl(): URL {
  return import.meta.url.endsWith(".ts") ? new URL("./repo-thread.ts", import.meta.url) : new URL("../repo-thread.js", import.meta.url);
}

function digest(address: string): Buffer {
  return createHash("sha256").update(address).digest();
}
