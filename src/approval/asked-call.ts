// A call that a person is asked about, and the directory that decides what it does.

import { isGatewayTarget } from "../lib/target.ts";
import { MCP_CALL } from "./request.ts";
import { makeVisible } from "./visible.ts";

export type AskedCall = { syscall: string; args: Readonly<Record<string, unknown>>; target: string };

/** Longer values are shortened in the title of a question. */
export const SUBJECT_CHARS_MAX = 80;

/** Safe to show. Null if no directory matters or only the machine knows it. */
export function workingDirectoryOf({ syscall, args, target, cwd }: AskedCall & { cwd: string }): string | null {
  if (syscall === MCP_CALL) return null;
  const named = syscall === "shell.exec" && typeof args.cwd === "string" ? args.cwd : null;
  if (named !== null && (/^[/~]/.test(named) || !isGatewayTarget(target))) return makeVisible(named);
  if (!isGatewayTarget(target)) return null;
  if (named !== null) return makeVisible(`${cwd}/${named}`);
  const usesDirectory = /^(?:shell|codemode)\./.test(syscall) || [args, args.from, args.to].some(hasRelativePath);
  return usesDirectory && cwd !== "" ? makeVisible(cwd) : null;
}

function hasRelativePath(holder: unknown): boolean {
  const path = typeof holder === "object" && holder !== null ? (holder as { path?: unknown }).path : undefined;
  return typeof path === "string" && !/^[/~]/.test(path);
}
