// Helpers with which the plugins of this folder read and build just-bash's syntax tree.

import type { Bash } from "just-bash/browser";

export type Plugin = Parameters<Bash["registerTransformPlugin"]>[0];
export type Script = Parameters<Plugin["transform"]>[0]["ast"];
export type Statement = Script["statements"][number];
export type Command = Statement["pipelines"][number]["commands"][number];
export type SimpleCommand = Extract<Command, { type: "SimpleCommand" }>;
export type Word = SimpleCommand["args"][number];
export type Part = Word["parts"][number];
export type Redirection = SimpleCommand["redirections"][number];
export type Assignment = SimpleCommand["assignments"][number];

export function makeLiteral(value: string): Word {
  return makeWord({ type: "Literal", value });
}

export function makeWord(...parts: Part[]): Word {
  return { type: "Word", parts };
}

export function makeStatement(command: Command): Statement {
  return { type: "Statement", pipelines: [{ type: "Pipeline", commands: [command], negated: false }], operators: [], background: false };
}

export function makeSimpleCommand(name: string, ...args: Word[]): SimpleCommand {
  return { type: "SimpleCommand", assignments: [], name: makeLiteral(name), args, redirections: [] };
}

export function commandNameOf({ name }: SimpleCommand): string {
  return name === null ? "" : literalTextOf(name);
}

/** The text of a word without quotes or expansions; else an empty string. */
export function literalTextOf({ parts }: Word): string {
  return parts.length === 1 && parts[0]?.type === "Literal" ? parts[0].value : "";
}

/** The command of a statement that consists of one command; null for any other statement. */
export function onlyCommand({ pipelines, background }: Statement): Command | null {
  const [pipeline, ...others] = pipelines;
  const [command, ...piped] = pipeline?.commands ?? [];
  if (command === undefined || others.length > 0 || piped.length > 0 || background) return null;
  return pipeline?.negated || pipeline?.timed ? null : command;
}

export function isNode(value: unknown): value is { type: string } {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** Whether the tree contains a node for which `is` returns true. */
export function containsNode(node: unknown, is: (node: { type: string }) => boolean): boolean {
  if (typeof node !== "object" || node === null) return false;
  return (isNode(node) && is(node)) || Object.values(node).some((child) => containsNode(child, is));
}
