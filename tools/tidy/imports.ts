// Checks imports against a table of folders. Imports of types count like any other: a reader follows both.

import { posix } from "node:path";
import { type Folder, FOLDERS } from "./table.ts";

export type Source = { path: string; text: string };
type Folders = Readonly<Record<string, Folder>>;
type Import = { specifier: string; isType: boolean };

const IMPORT = /(?:^|[\n;])\s*(?:import|export)\b[^"'`;]*?from\s*"([^"]+)"|(?:^|[\n;])\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/g;

/** Each problem is one line that says where it is and what is not allowed. */
export function importProblems(sources: readonly Source[], folders: Folders = FOLDERS): string[] {
  return sources.flatMap((source) => problemsOf(source, folders));
}

function problemsOf({ path, text }: Source, folders: Folders): string[] {
  const own = folderOf(path, folders);
  if (own === null) return [`${path}: no folder of the table holds it`];
  const { imports, types = [], packages } = folders[own]!;
  return importsIn(text).flatMap(({ specifier, isType }) => {
    const target = resolve(path, specifier);
    if (target === null)
      return packages === undefined || packages.some((name) => isWithin(specifier, name)) ? [] : [refusal(path, own, specifier)];
    if (isCall(path) && isCall(target)) return [`${path}: a syscall may not import another one (${below(target)})`];
    if (folderOf(target, folders) === own) return [];
    return [...imports, ...(isType ? types : [])].some((allowed) => isWithin(below(target), allowed))
      ? []
      : [refusal(path, own, below(target))];
  });
}

/** Permissions of the table that no source needs. */
export function unusedPermissions(sources: readonly Source[], folders: Folders = FOLDERS): string[] {
  return Object.entries(folders).flatMap(([name, { imports, types = [], packages = [] }]) => {
    const own = sources.filter(({ path }) => folderOf(path, folders) === name);
    const used = own.flatMap(({ path, text }) => importsIn(text).map(({ specifier }) => below(resolve(path, specifier) ?? specifier)));
    return [...imports, ...types, ...packages]
      .filter((allowed) => !used.some((target) => isWithin(target, allowed)))
      .map((allowed) => `${name} may import ${allowed} and does not`);
  });
}

/** The folders of a cycle in the table, or null. */
export function cycleIn(folders: Folders = FOLDERS): string[] | null {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | null => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (done.has(name)) return null;
    const { imports, types = [] } = folders[name]!;
    for (const allowed of [...imports, ...types]) {
      const next = folderOf(pathOf(allowed), folders);
      const found = next === null || next === name ? null : visit(next, [...path, name]);
      if (found !== null) return found;
    }
    done.add(name);
    return null;
  };
  for (const name of Object.keys(folders)) {
    const found = visit(name, []);
    if (found !== null) return found;
  }
  return null;
}

function importsIn(text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([statement, from, alone, dynamic]) => ({
    specifier: from ?? alone ?? dynamic!,
    isType: /^[\s;]*(?:import|export)\s+type\b/.test(statement),
  }));
}

/** A file that declares a syscall; the tables and definitions are directly in `calls`. */
function isCall(path: string): boolean {
  return /^src\/(?:kernel|hardware)\/calls\/[^/]+\//.test(path);
}

function resolve(path: string, specifier: string): string | null {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : null;
}

function folderOf(path: string, folders: Folders): string | null {
  return Object.keys(folders).find((name) => isWithin(path, pathOf(name))) ?? null;
}

function pathOf(name: string): string {
  return isWithin(name, "web/src") ? name : `src/${name}`;
}

function below(path: string): string {
  return path.startsWith("src/") ? path.slice("src/".length) : path;
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

function refusal(path: string, folder: string, target: string): string {
  return `${path}: ${folder} may not import ${target} (tools/tidy/table.ts)`;
}
