// The sources of the product, without tests.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "./imports.ts";

const ROOT = join(import.meta.dirname, "../..");

export function readSources(folders: readonly string[] = ["src", "web/src"]): Source[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path.replaceAll("\\", "/")}`),
    )
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}
