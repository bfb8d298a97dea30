// What the file commands share: answers that say no, and what is at a place.

import type { Client } from "../../client/client.ts";
import type { FilePlace } from "./target-path.ts";
import { Problem } from "../terminal/problem.ts";

/** An operation that failed says why in its answer. */
export function mustBeOk<T extends { ok: boolean }>(answer: T): Exclude<T, { ok: false }> {
  if (isFailure(answer)) throw new Problem(answer.error);
  return answer as Exclude<T, { ok: false }>;
}

/** Asks the directory above first, because reading a picture would fetch all of it and a binary file cannot be read. */
export async function isDirectory(client: Client, place: FilePlace): Promise<boolean> {
  const listed = await kindListed(client, place);
  if (listed !== null) return listed === "directory";
  return "directories" in mustBeOk(await client.call("fs.read", { ...place, limit: 0 }));
}

/** What the directory above says of a place; null where it says nothing. */
export async function kindListed(client: Client, place: FilePlace): Promise<"file" | "directory" | null> {
  const name = /[^/]+(?=\/*$)/.exec(place.path)?.[0];
  if (name === undefined || name === "." || name === ".." || name === "~") return null;
  const above = await client.call("fs.read", { ...place, path: `${place.path}/..`, limit: 0 });
  if (!above.ok || !("directories" in above)) return null;
  return above.directories.includes(name) ? "directory" : above.files.includes(name) ? "file" : null;
}

function isFailure(answer: { ok: boolean }): answer is { ok: false; error: string } {
  return !answer.ok;
}
