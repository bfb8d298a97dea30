// Actors other than the kernel. Each has its own database and handles its own messages, so long work in one never blocks the
// kernel. Every repository and every process is an actor; the first call to one creates it. The kernel has already checked the
// caller's rights. A process calls the kernel through the port that the host hands it (process/kernel-port.ts).
//
// Only values that both hosts can copy cross: plain objects and arrays of strings, numbers, booleans, null and Uint8Array. A
// write is answered when it is durable. Nothing that follows from a call survives a crash unless everything survives that the caller
// had written before it, so a caller need not wait for its own rows first. SysError and StorageError cross as themselves; an
// unreachable actor is a 503. An actor opens no connection itself: it uses the `http` function passed with the call.

/** Processes, by pid. `actor.ts` of src/process lists the calls. */
export interface ProcessActors {
  call(pid: string, name: string, args: object): Promise<unknown>;
}

/** Repositories, by their address `repo:<owner>/<name>`. `calls.ts` of src/repo lists the calls. */
export interface RepositoryActors {
  call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown>;
  /** Bodies are streams in both directions. A reader that stops early must cancel the stream. */
  fetch(address: string, request: ActorRequest): Promise<ActorResponse>;
}

export type ActorHttp = (url: string, request: ActorHttpRequest) => Promise<ActorHttpAnswer>;

export type ActorHttpRequest = { method: "GET" | "POST"; headers: Record<string, string>; body?: Uint8Array };

/** `url` is the final URL, after redirects. */
export type ActorHttpAnswer = { status: number; headers: Record<string, string>; body: ReadableStream<Uint8Array>; url: string };

export type ActorRequest = {
  method: string;
  /** The part after the actor's address, starting with a slash. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array> | null;
  /** `quota`: how large a push may make the repository, and the message for one that exceeds it; null means no limit. */
  access: { read: boolean; write: boolean; actor: string | null; quota?: { bytes: number; says: string } | null };
};

export type ActorResponse = {
  status: number;
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array>;
  /** What the request changed, for the kernel's own rows; null if nothing. */
  changed: unknown;
};
