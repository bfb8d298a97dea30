// Actors beside the kernel: each has its own database and its own turn, so that long work there never holds the kernel.
// There is one per repository, at `repo:<owner>/<name>`, and one per process, at `proc:<pid>`; asking for one makes it. Who may
// ask was decided before. A process reaches the kernel in turn through the link the host hands it (process/kernel-port.ts).
//
// Values are what both hosts can copy: plain objects and arrays of text, numbers, booleans, null and Uint8Array. An answer
// to a write comes when the write is durable. SysError and StorageError cross as themselves; an actor that cannot be
// reached is 503. An actor opens no connection: where it needs one, it asks through the `http` it was handed.

export interface Actors {
  call(address: string, name: string, args: object, http?: ActorHttp): Promise<unknown>;
  /** Bodies are streams both ways; whoever does not read one to its end cancels it. */
  fetch(address: string, request: ActorRequest): Promise<ActorResponse>;
}

export type ActorHttp = (url: string, request: ActorHttpRequest) => Promise<ActorHttpAnswer>;

export type ActorHttpRequest = { method: "GET" | "POST"; headers: Record<string, string>; body?: Uint8Array };

/** `url` is where the answer came from, after redirects. */
export type ActorHttpAnswer = { status: number; headers: Record<string, string>; body: ReadableStream<Uint8Array>; url: string };

export type ActorRequest = {
  method: string;
  /** What follows the actor's own address, beginning with a slash. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array> | null;
  /** `quota`: what a push may make of it, and what is said of more; null for no limit. */
  access: { read: boolean; write: boolean; actor: string | null; quota?: { bytes: number; says: string } | null };
};

export type ActorResponse = {
  status: number;
  headers: Record<string, string>;
  body: ReadableStream<Uint8Array>;
  /** What the request has changed, for the kernel's own rows; null where nothing. */
  changed: unknown;
};
