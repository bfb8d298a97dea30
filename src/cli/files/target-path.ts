// Where a file is, as people write it: `laptop:/etc/hosts`, `gsv:~/notes.md`, or a plain path on the gateway. A single
// letter before the colon is a Windows drive and no target, and whatever has a slash before its colon is a path.

import { Problem } from "../terminal/problem.ts";

/** Fits the arguments of every fs.* call. */
export type FilePlace = { path: string; target?: string };

/** `whole` is the path that is meant where only a target is named; without one a path is needed. */
export function parsePlace(text: string, whole?: string): FilePlace {
  const [, target, rest = text] = /^([^/\\:.~][^/\\:]+):(.*)$/s.exec(text) ?? [];
  const path = rest || whole;
  if (path === undefined) throw new Problem(target === undefined ? "Name a path" : `Which file on ${target}? Write ${target}:PATH`);
  return target === undefined ? { path } : { path, target };
}

/** A path from an answer, written so that it can be given to the next command. */
export function placeText({ target }: FilePlace, path: string): string {
  return target === undefined ? path : `${target}:${path}`;
}
