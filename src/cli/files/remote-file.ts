// Helpers of the file commands: failed answers, and whether a path is a file or a directory.

import type { Client } from "../../client/client.ts";
import type { TargetPath } from "./target-path.ts";
import { Problem } from "../terminal/problem.ts";

/** Throws the error that the answer of a failed operation carries. */
export function requireOk<T extends { ok: boolean }>(answer: T): Exclude<T, { ok: false }> {
  if (isFailure(answer)) throw new Problem(answer.error);
  return answer as Exclude<T, { ok: false }>;
}

/** Asks the parent directory first, because reading an image would fetch all of it and a binary file cannot be read. */
export async function isDirectory(client: Client, place: TargetPath): Promise<boolean> {
  const listed = await findListedKind(client, place);
  if (listed !== null) return listed === "directory";
  return "directories" in requireOk(await client.call("fs.read", { ...place, limit: 0 }));
}

/** What the parent directory lists under this name; null if it lists nothing. */
export async function findListedKind(client: Client, place: TargetPath): Promise<"file" | "directory" | null> {
  const name = /[^/]+(?=\/*$)/.exec(place.path)?.[0];
  if (name === undefined || name === "." || name === ".." || name === "~") return null;
  const parent = await client.call("fs.read", { ...place, path: `${place.path}/..`, limit: 0 });
  if (!parent.ok || !("directories" in parent)) return null;
  return parent.directories.includes(name) ? "directory" : parent.files.includes(name) ? "file" : null;
}

function isFailure(answer: { ok: boolean }): answer is { ok: false; error: string } {
  return !answer.ok;
}
