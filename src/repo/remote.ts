// Fetches one ref from a remote git server through a given HTTP function, which checks addresses, redirects and timeouts.
// Everything that comes back is bounded and validated here.

import { fail } from "../lib/sys-error.ts";
import { ByteReader, type ByteStream, toByteStream } from "./byte-reader.ts";
import type { Limits } from "./limits.ts";
import { isOid } from "./oid.ts";
import { FLUSH, pkt, readPktLine, readPkt } from "./pkt-line.ts";
import { concat } from "../lib/bytes.ts";
import { decodeTextLossily } from "./text.ts";

export type HttpFetch = (
  url: string,
  request: { method: "GET" | "POST"; headers: Record<string, string>; body?: Uint8Array },
) => Promise<HttpAnswer>;

export type HttpAnswer = {
  status: number;
  headers: Headers;
  body: ByteStream | null;
  /** The final URL, after redirects. */
  url?: string;
};

export type RemoteRef = { name: string; oid: string };
export type Remote = { url: string; ref: RemoteRef; capabilities: ReadonlySet<string> };

const AGENT = "git/gsv";
/** Against a server that keeps sending progress and no pack. */
const NON_PACK_PACKETS_MAX = 100_000;

/** Looks for a branch, a tag, a full name or HEAD, in this order. */
export async function findRemoteRef(http: HttpFetch, remoteUrl: string, wanted: string, limits: Limits): Promise<Remote> {
  const base = cleanUrl(remoteUrl);
  const answer = await http(`${base}/info/refs?service=git-upload-pack`, { method: "GET", headers: { "user-agent": AGENT } });
  if (answer.status !== 200 || answer.body === null)
    fail(503, `${base} answered ${answer.status}: check that it is a git repository you may read`);
  if (answer.headers.get("content-type") !== "application/x-git-upload-pack-advertisement")
    fail(400, `${base} does not speak git's smart HTTP`);
  const reader = new ByteReader(answer.body);
  try {
    reader.limit(limits.advertisementBytes, `${base} has too many refs`);
    const { refs, capabilities } = await readAdvertisement(reader);
    const format = [...capabilities].find((word) => word.startsWith("object-format="));
    if (format !== undefined && format !== "object-format=sha1") fail(400, `${base} uses ${format}, which is not supported`);
    const names = [`refs/heads/${wanted}`, `refs/tags/${wanted}`, wanted];
    const name = names.find((candidate) => refs.has(candidate)) ?? fail(404, `${base} has no ref ${wanted}`);
    return { url: baseUrlAfterRedirect(answer.url) ?? base, ref: { name, oid: refs.get(name)! }, capabilities };
  } finally {
    await reader.drain(0);
  }
}

/** Fetches the pack that a client with `haves` needs to have `remote.ref`. */
export async function fetchPack(http: HttpFetch, remote: Remote, haves: readonly string[]): Promise<ByteStream> {
  const wanted = ["ofs-delta", "thin-pack", "no-progress"].filter((word) => remote.capabilities.has(word));
  if (!remote.capabilities.has("side-band-64k")) fail(400, `${remote.url} runs a git that is too old`);
  const lines = [
    pkt(`want ${remote.ref.oid} ${["side-band-64k", ...wanted, `agent=${AGENT}`].join(" ")}\n`),
    FLUSH,
    ...haves.map((oid) => pkt(`have ${oid}\n`)),
    pkt("done\n"),
  ];
  const answer = await http(`${remote.url}/git-upload-pack`, {
    method: "POST",
    headers: {
      "user-agent": AGENT,
      "content-type": "application/x-git-upload-pack-request",
      accept: "application/x-git-upload-pack-result",
    },
    body: concat(lines),
  });
  if (answer.status !== 200 || answer.body === null) fail(503, `${remote.url} answered ${answer.status} to a fetch`);
  return toByteStream(readPackBand(new ByteReader(answer.body), remote.url));
}

function cleanUrl(remoteUrl: string): string {
  const url = URL.canParse(remoteUrl) ? new URL(remoteUrl) : fail(400, `Not a URL: ${remoteUrl}`);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    fail(400, `Only http and https remotes can be imported, not ${url.protocol}//`);
  if (url.username !== "" || url.password !== "") fail(400, "A remote's URL must not contain credentials");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** After a redirect, the following requests go to the new address. */
function baseUrlAfterRedirect(url: string | undefined): string | undefined {
  const match = /^(.*)\/info\/refs\?service=git-upload-pack$/.exec(url ?? "");
  return match?.[1];
}

async function readAdvertisement(reader: ByteReader): Promise<{ refs: Map<string, string>; capabilities: Set<string> }> {
  const first = await readPktLine(reader);
  if (first !== "# service=git-upload-pack" || (await readPktLine(reader)) !== null)
    fail(400, "The remote does not speak git's smart HTTP");
  const refs = new Map<string, string>();
  let capabilities = new Set<string>();
  for (let line = await readPktLine(reader); line !== null; line = await readPktLine(reader)) {
    if (line.startsWith("ERR ")) fail(503, `The remote says: ${line.slice(4, 300)}`);
    if (line === "version 1") continue;
    const [ref = "", words] = line.split("\0");
    if (words !== undefined) capabilities = new Set(words.split(" "));
    const [oid = "", name = ""] = ref.split(" ");
    if (isOid(oid) && (name === "HEAD" || /^refs\/(heads|tags)\/[^^]+$/.test(name))) refs.set(name, oid);
  }
  return { refs, capabilities };
}

async function* readPackBand(reader: ByteReader, url: string): AsyncGenerator<Uint8Array> {
  try {
    for (let packets = 0; ;) {
      const packet = await readPkt(reader);
      if (packet === null) return;
      const isPack = packet[0] === 1;
      if (isPack && packet.length > 1) yield packet.subarray(1);
      else if (packet[0] === 3) fail(503, `${url} says: ${decodeTextLossily(packet.subarray(1)).trim().slice(0, 300)}`);
      else if (decodeTextLossily(packet.subarray(0, 4)) === "ERR ")
        fail(503, `${url} says: ${decodeTextLossily(packet.subarray(4)).trim().slice(0, 300)}`);
      // ACK, NAK and progress.
      if (!isPack && ++packets > NON_PACK_PACKETS_MAX) fail(503, `${url} sent too much before the pack`);
    }
  } finally {
    await reader.drain(0);
  }
}
