// Yields a path and, if recursive, everything below it, parents first.

import type { FileStat } from "../hardware/filesystem.ts";
import type { KernelClient } from "./kernel-client.ts";

export async function* walk(link: KernelClient, path: string, isRecursive: boolean): AsyncGenerator<{ path: string; stat: FileStat }> {
  const stat = await link.stat(path);
  // Listed before the yield: the caller may change the mode so that listing is forbidden.
  const entries = isRecursive && stat.kind === "directory" ? await link.list(path) : [];
  yield { path, stat };
  for (const { name } of entries) yield* walk(link, path === "/" ? `/${name}` : `${path}/${name}`, true);
}
