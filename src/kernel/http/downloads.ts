// Downloads that a machine needs to become a device: the CLI as one file with its checksum, and scripts that install it. Nothing
// here is secret, so no authentication is required.

/** Reads a file of the folder that the bundler wrote; null if the host does not have it. */
export type ReadDownload = (name: string) => Promise<Uint8Array<ArrayBuffer> | null>;

/** The placeholder for the gateway's address in the scripts. */
const ORIGIN_MARK = "@GSV_ORIGIN@";
/** Host names in URLs may contain quotes and dollar signs, which must not get into a script, even from a configured origin. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

const FILES: Record<string, { name: string; type: string; isScript: boolean }> = {
  "install.sh": { name: "install.sh", type: "text/x-shellscript; charset=utf-8", isScript: true },
  "install.ps1": { name: "install.ps1", type: "text/plain; charset=utf-8", isScript: true },
  "latest/gsv.mjs": { name: "gsv.mjs", type: "text/javascript; charset=utf-8", isScript: false },
  "latest/gsv.mjs.sha256": { name: "gsv.mjs.sha256", type: "text/plain; charset=utf-8", isScript: false },
};

/** `origin` goes into a script that people run, so it must be one of our own addresses, verified by the host. */
export async function serveDownload(request: Request, origin: string, read: ReadDownload): Promise<Response> {
  const path = new URL(request.url).pathname.replace("/downloads/cli/", "");
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (file === undefined) return textResponse(404, `Not found. Available: ${Object.keys(FILES).join(", ")}`);
  if (request.method !== "GET" && request.method !== "HEAD") return textResponse(405, "Only GET is allowed here", { allow: "GET, HEAD" });
  if (file.isScript && !PLAIN_ORIGIN.test(origin)) return textResponse(404, "There is no install script for this host name");
  const bytes = await read(file.name);
  if (bytes === null) return textResponse(404, "This gateway was started without its downloads: run it from the bundle, as npm start does");
  const body = file.isScript ? new TextDecoder().decode(bytes).replaceAll(ORIGIN_MARK, origin) : bytes;
  return new Response(body, { headers: { "content-type": file.type, "cache-control": "no-store" } });
}

function textResponse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return new Response(`${message}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}
