// Finds the named functions of a source file: declarations, methods, and functions assigned to a name. A syscall counts by its `run`.

import { parseSync } from "vite";
import type { Source } from "./imports.ts";

export type NamedFunction = { path: string; name: string; line: number; lineCount: number };

type Node = { type: string; start: number; end: number; [key: string]: unknown };

export function functionsIn({ path, text }: Source): NamedFunction[] {
  const found: NamedFunction[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const name = functionName(value);
    if (name !== null) {
      const line = lineOf(text, value.start);
      found.push({ path, name, line, lineCount: lineOf(text, value.end) - line + 1 });
    }
    for (const key of Object.keys(value)) visit(value[key]);
  };
  visit(parseSync(path, text).program);
  return found;
}

function functionName(node: Node): string | null {
  switch (node.type) {
    case "FunctionDeclaration":
      return nameOf(node.id);
    case "VariableDeclarator":
      return isFunction(node.init) ? nameOf(node.id) : null;
    case "MethodDefinition":
    case "PropertyDefinition":
    case "Property":
      return isFunction(node.value) ? nameOf(node.key) : null;
    default:
      return null;
  }
}

function isFunction(value: unknown): boolean {
  return isNode(value) && (value.type === "ArrowFunctionExpression" || value.type === "FunctionExpression") && value.body !== null;
}

function nameOf(id: unknown): string | null {
  if (!isNode(id) || typeof id.name !== "string") return null;
  return id.type === "PrivateIdentifier" ? `#${id.name}` : id.name;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
