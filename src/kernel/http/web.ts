// Serves the web desktop on both hosts: one page for all its addresses, and the assets it loads, whose names change with their
// content. The page may run only scripts from this gateway, and may connect only to this gateway.

import type { ReadDownload } from "./downloads.ts";

type WebFileKind = { type: string; folder: "web/" | "web/assets/"; cache: string; policy: string };

/** A build gives changed assets new names, so an asset never changes under its name. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const REVALIDATE = "no-cache";
const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
  webmanifest: "application/manifest+json",
};
/** A plain file name: no folder, no leading dot, nothing that a file system could interpret as a path. */
const ASSET = /^\/assets\/([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|svg|woff2))$/;
const ROOT_FILE = /^\/(favicon\.svg|manifest\.webmanifest|icon-(?:maskable-)?\d+\.png|apple-touch-icon\.png)$/;
const PUSH_WORKER = "push-worker.js";
/** An SVG opened directly is a document, which must not be able to run anything. */
const INERT = "default-src 'none'; frame-ancestors 'none'; sandbox";
/** A worker has a policy of its own: it sends answers to this gateway, and loads nothing. */
const WORKER_POLICY = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'";
/** Paths at which a browser gets the page. A program that requests an unknown path gets 404 instead. */
const ADDRESS = /^(?:\/[A-Za-z0-9_~@:%-][A-Za-z0-9._~@:%-]*)+$/;
const RESERVED = new Set([
  "ws",
  "apps",
  "app-rpc",
  "git",
  "runtime",
  "downloads",
  "oauth",
  "public",
  "push",
  "assets",
  "health",
  "healthz",
  "metrics",
]);

/** Null if the path does not belong to the desktop. */
export async function serveWeb(request: Request, origin: string, read: ReadDownload): Promise<Response | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const { pathname } = new URL(request.url);
  const kind = parseWebFilePath(pathname);
  if (kind !== null) return serveFile(request, kind, read);
  return isPage(pathname, request) ? servePage(request, origin, read) : null;
}

function parseWebFilePath(pathname: string): (WebFileKind & { name: string }) | null {
  const [, asset, extension = ""] = ASSET.exec(pathname) ?? [];
  if (asset !== undefined) return { name: asset, type: TYPES[extension]!, folder: "web/assets/", cache: IMMUTABLE, policy: INERT };
  if (pathname === `/${PUSH_WORKER}`)
    return { name: PUSH_WORKER, type: TYPES.js!, folder: "web/", cache: REVALIDATE, policy: WORKER_POLICY };
  const name = ROOT_FILE.exec(pathname)?.[1];
  if (name === undefined) return null;
  return { name, type: TYPES[name.split(".").at(-1)!]!, folder: "web/", cache: REVALIDATE, policy: INERT };
}

async function serveFile(
  request: Request,
  { name, type, folder, cache, policy }: WebFileKind & { name: string },
  read: ReadDownload,
): Promise<Response> {
  const found = await readBestEncoding(request, `${folder}${name}`, read);
  if (found === null) return new Response("Not found\n", { status: 404, headers: { "content-type": "text/plain; charset=utf-8" } });
  return makeResponse(found, { "content-type": type, "cache-control": cache, "content-security-policy": policy });
}

function isPage(pathname: string, request: Request): boolean {
  if (pathname === "/") return true;
  const first = pathname.split("/")[1]!;
  if (!ADDRESS.test(pathname) || RESERVED.has(first)) return false;
  return request.headers.get("accept")?.includes("text/html") === true;
}

async function servePage(request: Request, origin: string, read: ReadDownload): Promise<Response | null> {
  const found = await readBestEncoding(request, "web/index.html", read);
  const sha256 = found === null ? null : await read("web/index.html.sha256");
  if (found === null || sha256 === null) return null;
  const etag = `W/"${new TextDecoder().decode(sha256).slice(0, 32)}"`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": REVALIDATE,
    etag,
    "content-security-policy": contentSecurityPolicy(origin),
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), serial=(), hid=(), midi=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  if (request.headers.get("if-none-match")?.includes(etag) === true) return new Response(null, { status: 304, headers });
  return makeResponse(found, headers);
}

/** `origin` is one of our own addresses, never text from a request. In older browsers 'self' does not include WebSockets. */
function contentSecurityPolicy(origin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    `connect-src 'self' ${origin.replace(/^http/, "ws")}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    // One policy, which makes the address of the push worker and nothing else (web/src/state/push-worker.ts).
    "trusted-types push-worker",
  ].join("; ");
}

type FoundFile = { bytes: Uint8Array<ArrayBuffer>; encoding: "br" | "gzip" | null };

/** Reads the compressed copy that the build wrote beside the file, if the client accepts it. */
async function readBestEncoding(request: Request, name: string, read: ReadDownload): Promise<FoundFile | null> {
  const accepted = parseEncodings(request.headers.get("accept-encoding") ?? "");
  for (const [encoding, suffix] of [
    ["br", ".br"],
    ["gzip", ".gz"],
  ] as const) {
    const bytes = accepted.has(encoding) ? await read(`${name}${suffix}`) : null;
    if (bytes !== null) return { bytes, encoding };
  }
  const bytes = await read(name);
  return bytes === null ? null : { bytes, encoding: null };
}

function parseEncodings(header: string): Set<string> {
  const parts = header.split(",").map((part) =>
    part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/),
  );
  return new Set(parts.filter(([, weight]) => weight === undefined || Number(weight) > 0).map(([name]) => name!));
}

function makeResponse({ bytes, encoding }: FoundFile, headers: Record<string, string>): Response {
  // Without encodeBody "manual", Cloudflare would compress the body again because of its content-encoding header.
  const init = {
    headers: { ...headers, vary: "accept-encoding", ...(encoding === null ? {} : { "content-encoding": encoding }) },
    encodeBody: "manual" as const,
  };
  return new Response(bytes, init);
}
