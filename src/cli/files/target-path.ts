// The location of a file as people write it: `laptop:/etc/hosts`, `gsv:~/notes.md`, or a plain path on the gateway. A single
// letter before the colon is a Windows drive and not a target, and text with a slash before its colon is a path.

import { Problem } from "../terminal/problem.ts";

/** Fits the arguments of every fs.* call. */
export type TargetPath = { path: string; target?: string };

/** `defaultPath` is used if only a target is given; without it a path is required. */
export function parseTargetPath(text: string, defaultPath?: string): TargetPath {
  const [, target, rest = text] = /^([^/\\:.~][^/\\:]+):(.*)$/s.exec(text) ?? [];
  const path = rest || defaultPath;
  if (path === undefined) throw new Problem(target === undefined ? "No path given" : `No path on ${target}: write ${target}:PATH`);
  return target === undefined ? { path } : { path, target };
}

/** A path from an answer, in the form that the next command accepts. */
export function formatTargetPath({ target }: TargetPath, path: string): string {
  return target === undefined ? path : `${target}:${path}`;
}
