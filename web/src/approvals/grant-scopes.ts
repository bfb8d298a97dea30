// What "Always allow…" offers for a question, from the narrowest to the widest, in words. The gateway has the last word.

import { makeVisible } from "../../../src/approval/visible.ts";
import type { PendingQuestion } from "../state/approvals.ts";

export type Scope = "exact" | "folder" | "tool";
export type ScopeOption = {
  value: Scope;
  label: string;
  /** For the widest, what it means that the agent is not asked any more. */
  hint: string;
  isDangerous?: true;
};

/** The gateway allows only exactly the same call beforehand if it has one of these. */
const EXACT_ONLY = ["policy-bearing", "elevates", "reads-secret"];
const FILES: Readonly<Record<string, string | undefined>> = {
  "fs.read": "Read",
  "fs.search": "Search",
  "fs.write": "Write",
  "fs.edit": "Edit",
  "fs.delete": "Delete",
  "fs.upload": "Upload",
  "fs.download": "Fetch",
};

export function scopesOf(question: PendingQuestion): ScopeOption[] {
  const { syscall, tags, target } = question;
  const place = target === "gsv" ? "the gateway" : makeVisible(target);
  const exact = exactScopeOf(question, place);
  if (EXACT_ONLY.some((tag) => tags.includes(tag))) return [exact];
  const folder = folderOf(question);
  const verb = FILES[syscall];
  return [
    exact,
    ...(folder === null || verb === undefined
      ? []
      : [{ value: "folder" as const, label: `${verb} anything in ${folder}`, hint: `Files below that folder on ${place}.` }]),
    widestScopeOf(question, place, verb),
  ];
}

function exactScopeOf({ syscall }: PendingQuestion, place: string): ScopeOption {
  const again = `The same again on ${place}, character by character.`;
  switch (syscall) {
    case "shell.exec":
      return { value: "exact", label: "Exactly this command", hint: again };
    case "codemode.exec":
    case "codemode.run":
      return { value: "exact", label: "Exactly this script", hint: "The same source, character by character." };
    case "sys.mcp.call":
      return { value: "exact", label: "Exactly this call", hint: "The same tool of the same server, with the same arguments." };
    default:
      return { value: "exact", label: "Exactly this", hint: again };
  }
}

function widestScopeOf({ syscall, askedBy }: PendingQuestion, place: string, verb: string | undefined): ScopeOption {
  const who = askedBy.agent;
  switch (syscall) {
    case "shell.exec":
      return {
        value: "tool",
        label: `Any command on ${place}`,
        hint: `${who} may then delete files, install programs and send data from ${place} without asking you.`,
        isDangerous: true,
      };
    case "codemode.exec":
    case "codemode.run":
      return { value: "tool", label: "Any script", hint: "Each file or command that it uses is judged separately." };
    case "sys.mcp.call":
      return {
        value: "tool",
        label: "This tool with any arguments",
        hint: `${who} may then use this tool as you, with any content and recipients, without asking you.`,
        isDangerous: true,
      };
    default:
      return {
        value: "tool",
        label: verb === undefined ? "This, with any arguments" : `${verb} anything on ${place}`,
        hint: `${who} may then do this without asking you, except where it controls agents or machines or may read secrets.`,
        isDangerous: true,
      };
  }
}

/** Null where the gateway would not allow a whole folder: it has none, or it is a whole disk or home. */
function folderOf({ args: { path } }: PendingQuestion): string | null {
  if (typeof path !== "string") return null;
  const folder = path.slice(0, path.lastIndexOf("/"));
  return /^~?$|^\/[^/]+$|^\/(?:home|users)\/[^/]+$/i.test(folder) || !/^[/~]/.test(folder) ? null : makeVisible(folder);
}
