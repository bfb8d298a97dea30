// The git server: smart HTTP over one repository, as a function from request to answer. The kernel has authenticated and
// authorized the caller; the host only transports bytes.

import { fail, SysError } from "../lib/sys-error.ts";
import { advertise, type Service } from "./advertise.ts";
import { ByteReader, type ByteStream, toByteStream } from "./byte-reader.ts";
import type { RefUpdate } from "./receive.ts";
import type { Repository } from "./repository.ts";
import { formatPushError, servePush } from "./push.ts";
import { toBytes } from "./text.ts";
import { serveUpload } from "./upload.ts";

export type GitRequest = {
  method: string;
  /** The part after the repository's own address, starting with a slash: `/info/refs`. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: ByteStream | null;
};

export type GitAccess = {
  read: boolean;
  write: boolean;
  /** Null if the client has not authenticated; then the answer asks it to. */
  actor: string | null;
  /** Whether a push may rewrite a branch, as git's own servers allow by default. */
  force?: boolean;
};

export type GitResponse = {
  status: number;
  headers: Record<string, string>;
  body: ByteStream;
  /** Refs a push has moved. */ moved: RefUpdate[];
};

const NO_CACHE = { "cache-control": "no-cache, max-age=0, must-revalidate", expires: "Fri, 01 Jan 1980 00:00:00 GMT", pragma: "no-cache" };
const SERVICES: readonly Service[] = ["git-upload-pack", "git-receive-pack"];

export async function serveGit(repository: Repository, request: GitRequest, access: GitAccess): Promise<GitResponse> {
  const service = serviceOf(request);
  if (service === undefined) return textResponse(access.read ? 404 : refusalStatus(access), "Not found\n");
  // A repository looks absent to those who may not read it.
  if (!access.read)
    return textResponse(refusalStatus(access), access.actor === null ? "Authentication required\n" : "Repository not found\n");
  if (service === "git-receive-pack" && !access.write)
    return textResponse(
      access.actor === null ? 401 : 403,
      access.actor === null ? "Authentication required\n" : "You may not write to this repository\n",
    );

  if (request.path === "/info/refs") {
    const version = /(^|:)version=1(:|$)/.test(request.headers.get("git-protocol") ?? "") ? 1 : 0;
    return streamResponse(`application/x-${service}-advertisement`, [advertise(repository.store, service, version)]);
  }
  if (request.headers.get("content-type") !== `application/x-${service}-request`) return textResponse(415, "Unsupported media type\n");
  const { limits } = repository.store;
  let reader: ByteReader;
  try {
    reader = new ByteReader(decodeBody(request, limits.packBytes + limits.requestBytes));
  } catch (error) {
    if (!(error instanceof SysError)) throw error;
    return textResponse(415, `${error.message}\n`);
  }
  const type = `application/x-${service}-result`;
  if (service === "git-upload-pack") return streamResponse(type, serveUpload(repository.store, reader));
  try {
    const { answer: report, moved } = await servePush(repository.store, reader, { force: access.force ?? true });
    await reader.drain(limits.packBytes);
    // The client gets its answer only when the change is on disk.
    if (moved.length > 0) await repository.store.sql.waitUntilDurable();
    return streamResponse(type, [report], moved);
  } catch (error) {
    await reader.drain(limits.packBytes);
    return streamResponse(type, [formatPushError(error)]);
  }
}

function serviceOf({ method, path, query }: GitRequest): Service | undefined {
  const serviceName = path === "/info/refs" && method === "GET" ? query.get("service") : method === "POST" ? path.slice(1) : null;
  return SERVICES.find((service) => service === serviceName);
}

function refusalStatus({ actor }: GitAccess): number {
  return actor === null ? 401 : 404;
}

function decodeBody({ headers, body }: GitRequest, bytesMax: number): ByteStream {
  const stream = body ?? toByteStream([]);
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding === "identity") return stream;
  if (encoding !== "gzip" && encoding !== "x-gzip") fail(400, `Unsupported content encoding: ${encoding}`);
  return toByteStream(gunzip(stream, bytesMax));
}

/** Guards against zip bombs: readers have limits of their own, and this stops at the largest of them. */
async function* gunzip(stream: ByteStream, bytesMax: number): AsyncGenerator<Uint8Array> {
  const reader = stream.pipeThrough(new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  let total = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => fail(400, "Bad request: the gzip data is damaged"));
      if (done) return;
      total += value.length;
      if (total > bytesMax) fail(413, "Request too large");
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function streamResponse(type: string, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, moved: RefUpdate[] = []): GitResponse {
  return { status: 200, headers: { "content-type": type, ...NO_CACHE }, body: toByteStream(pieces), moved };
}

function textResponse(status: number, text: string): GitResponse {
  const headers: Record<string, string> = { "content-type": "text/plain; charset=utf-8", ...NO_CACHE };
  if (status === 401) headers["www-authenticate"] = 'Basic realm="gsv"';
  return { status, headers, body: toByteStream([toBytes(text)]), moved: [] };
}
