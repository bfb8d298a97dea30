// Where the Node host finds the downloads for other machines: beside the bundle it runs from.

import { readFile } from "node:fs/promises";
import type { ReadDownload } from "../../kernel/http/downloads.ts";

/** When the sources run unbuilt, the last build's downloads are served. */
const FOLDER = import.meta.url.endsWith(".ts")
  ? new URL("../../../dist/downloads/", import.meta.url)
  : new URL("../downloads/", import.meta.url);

export const nodeDownloads: ReadDownload = async (name) => {
  try {
    return new Uint8Array(await readFile(new URL(name, FOLDER)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
};
