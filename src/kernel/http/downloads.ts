// What another machine needs to become a device: the command line as one file with its checksum, and scripts that install
// it. Nothing here is secret, so nobody is asked who they are.

/** A file of the folder that the bundler wrote; null where the host has none. */
export type Downloads = (name: string) => Promise<Uint8Array<ArrayBuffer> | null>;

/** In the scripts, where the address of the gateway belongs. */
const ORIGIN_MARK = "@GSV_ORIGIN@";
/** URLs let quotes and dollar signs into names; a script must not meet them, whoever listed the name. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]+$/;

const FILES: Record<string, { name: string; type: string; isScript: boolean }> = {
  "install.sh": { name: "install.sh", type: "text/x-shellscript; charset=utf-8", isScript: true },
  "install.ps1": { name: "install.ps1", type: "text/plain; charset=utf-8", isScript: true },
  "latest/gsv.mjs": { name: "gsv.mjs", type: "text/javascript; charset=utf-8", isScript: false },
  "latest/gsv.mjs.sha256": { name: "gsv.mjs.sha256", type: "text/plain; charset=utf-8", isScript: false },
};

/** `origin` goes into a script that somebody will run, so it must be an address of ours that the host vouches for. */
export async function downloads(request: Request, origin: string, read: Downloads): Promise<Response> {
  const path = new URL(request.url).pathname.replace("/downloads/cli/", "");
  const file = Object.hasOwn(FILES, path) ? FILES[path] : undefined;
  if (file === undefined) return text(404, `Not found. There are: ${Object.keys(FILES).join(", ")}`);
  if (request.method !== "GET" && request.method !== "HEAD") return text(405, "Only GET is answered here", { allow: "GET, HEAD" });
  if (file.isScript && !PLAIN_ORIGIN.test(origin)) return text(404, "There is no script for a gateway of this name");
  const bytes = await read(file.name);
  if (bytes === null) return text(404, "This gateway was started without its downloads: run it from the bundle, as npm start does");
  const body = file.isScript ? new TextDecoder().decode(bytes).replaceAll(ORIGIN_MARK, origin) : bytes;
  return new Response(body, { headers: { "content-type": file.type, "cache-control": "no-store" } });
}

function text(status: number, message: string, headers: Record<string, string> = {}): Response {
  return new Response(`${message}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers } });
}
