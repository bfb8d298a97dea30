// The web desktop as both hosts serve it: one page for each of its addresses, and the files that page names, which never
// change under their name. The page may run what comes from here and nothing else, and talk to this gateway alone.

import type { Downloads } from "./downloads.ts";

type Kind = { type: string; folder: "web/" | "web/assets/"; cache: string };

/** A new build gives new names to what has changed, so what is named once is the same for ever. */
const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";
const TYPES: Record<string, string> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  webmanifest: "application/manifest+json",
};
/** Without a folder, a leading dot or anything else that a file system might read as more than a name. */
const ASSET = /^\/assets\/([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.(js|css|svg))$/;
const BESIDE_THE_PAGE = /^\/((?:favicon\.(svg))|(?:manifest\.(webmanifest)))$/;
/** What a browser may be sent to: a program that asks for something that is not there is told so. */
const ADDRESS = /^(?:\/[A-Za-z0-9_~@:%-][A-Za-z0-9._~@:%-]*)+$/;
const NOT_OURS = new Set([
  "ws",
  "apps",
  "app-rpc",
  "git",
  "runtime",
  "downloads",
  "oauth",
  "public",
  "assets",
  "health",
  "healthz",
  "metrics",
]);

/** Null where the path is not the desktop's: somebody else's, or nobody's. */
export async function web(request: Request, origin: string, read: Downloads): Promise<Response | null> {
  if (request.method !== "GET" && request.method !== "HEAD") return null;
  const { pathname } = new URL(request.url);
  const kind = fileAt(pathname);
  if (kind !== null) return file(request, kind, read);
  return isPage(pathname, request) ? page(request, origin, read) : null;
}

function fileAt(pathname: string): (Kind & { name: string }) | null {
  const [, asset, extension = ""] = ASSET.exec(pathname) ?? [];
  if (asset !== undefined) return { name: asset, type: TYPES[extension]!, folder: "web/assets/", cache: FOR_EVER };
  const [, name, svg, manifest] = BESIDE_THE_PAGE.exec(pathname) ?? [];
  return name === undefined ? null : { name, type: TYPES[svg ?? manifest ?? ""]!, folder: "web/", cache: ASK_AGAIN };
}

async function file(request: Request, { name, type, folder, cache }: Kind & { name: string }, read: Downloads): Promise<Response> {
  const found = await compressed(request, `${folder}${name}`, read);
  if (found === null) return new Response("Not found\n", { status: 404, headers: { "content-type": "text/plain; charset=utf-8" } });
  // An image opened by itself is a document too, and must be able to do nothing.
  const headers = {
    "content-type": type,
    "cache-control": cache,
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  };
  return answer(found, headers);
}

function isPage(pathname: string, request: Request): boolean {
  if (pathname === "/") return true;
  const first = pathname.split("/")[1]!;
  if (!ADDRESS.test(pathname) || NOT_OURS.has(first)) return false;
  return request.headers.get("accept")?.includes("text/html") === true;
}

async function page(request: Request, origin: string, read: Downloads): Promise<Response | null> {
  const found = await compressed(request, "web/index.html", read);
  const sha256 = found === null ? null : await read("web/index.html.sha256");
  if (found === null || sha256 === null) return null;
  const etag = `W/"${new TextDecoder().decode(sha256).slice(0, 32)}"`;
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": ASK_AGAIN,
    etag,
    "content-security-policy": policy(origin),
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=(), serial=(), hid=(), midi=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
  if (request.headers.get("if-none-match")?.includes(etag) === true) return new Response(null, { status: 304, headers });
  return answer(found, headers);
}

/** `origin` is an address of ours, and nothing that a stranger wrote. Older browsers do not count sockets as 'self'. */
function policy(origin: string): string {
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
    "trusted-types 'none'",
  ].join("; ");
}

type Found = { bytes: Uint8Array<ArrayBuffer>; encoding: "br" | "gzip" | null };

/** The build wrote a compressed copy beside each file. */
async function compressed(request: Request, name: string, read: Downloads): Promise<Found | null> {
  const accepted = encodings(request.headers.get("accept-encoding") ?? "");
  for (const [encoding, ending] of [
    ["br", ".br"],
    ["gzip", ".gz"],
  ] as const) {
    const bytes = accepted.has(encoding) ? await read(`${name}${ending}`) : null;
    if (bytes !== null) return { bytes, encoding };
  }
  const bytes = await read(name);
  return bytes === null ? null : { bytes, encoding: null };
}

function encodings(header: string): Set<string> {
  const parts = header.split(",").map((part) =>
    part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/),
  );
  return new Set(parts.filter(([, weight]) => weight === undefined || Number(weight) > 0).map(([name]) => name!));
}

function answer({ bytes, encoding }: Found, headers: Record<string, string>): Response {
  // On Cloudflare the platform would compress a body again that is said to be compressed, unless it is told that it is.
  const init = {
    headers: { ...headers, vary: "accept-encoding", ...(encoding === null ? {} : { "content-encoding": encoding }) },
    encodeBody: "manual" as const,
  };
  return new Response(bytes, init);
}
