// A tool call as a person sees it: in one line while it runs, and whole where they are asked to allow it. Arguments are a model's
// words, so nothing in them may look like anything else than what it is.

import { type Look, styled } from "./look.ts";
import { printable } from "./terminal.ts";

type Args = Record<string, unknown>;

export type ToolCall = { name: string; syscall: string; args: Args };

const LINE_CHARS = 80;
/** As much as a person reads. Of more, beginning and end are shown, and that something is missing. */
const SHOWN_LINES = 120;
const SHOWN_CHARS = 16_000;

/** Name, target and what it is about: Shell macbook  git status */
export function toolLine({ name, syscall, args }: ToolCall): string {
  const target = text(args.target);
  const about = firstLine(subject(syscall, args));
  return printable([name, target, about === "" ? "" : ` ${about}`].filter((part) => part !== "").join(" "));
}

/** Everything that would run, and how to answer. */
export function approvalText({ name, syscall, args }: ToolCall, look: Look): string {
  const paint = (text: string, style: "bold" | "yellow" | "dim") => (look === "styled" ? styled(text, style) : text);
  const title = `Allow ${name} on ${text(args.target) || "gsv"}?`;
  const { shown, missing } = limited(details(syscall, args));
  const warning = missing === "" ? [] : [paint(`  ${missing}: look at all of it before you allow it`, "yellow")];
  const answers = "  y: allow it once   a: allow exactly this for 24 h   n: refuse";
  return [paint(printable(title), "bold"), ...shown.map((line) => `    ${line}`), ...warning, paint(answers, "dim")].join("\n");
}

function subject(syscall: string, args: Args): string {
  switch (syscall) {
    case "shell.exec":
      return typeof args.sessionId === "string" ? `${args.sessionId} ${text(args.input)}` : text(args.input);
    case "fs.search":
      return [text(args.query), text(args.path)].filter((part) => part !== "").join(" in ");
    case "fs.read":
    case "fs.write":
    case "fs.edit":
    case "fs.delete":
      return text(args.path);
    default: {
      const { target: _, ...rest } = args;
      return Object.keys(rest).length === 0 ? "" : JSON.stringify(rest);
    }
  }
}

/** Line by line, with every argument that is not the target in it. */
function details(syscall: string, args: Args): string[] {
  const { target: _, ...rest } = args;
  const known = syscall === "fs.edit" ? edit(rest) : syscall === "shell.exec" ? command(rest) : null;
  const [lines, others] = known ?? [[], rest];
  return [...lines, ...Object.entries(others).flatMap(([name, value]) => field(name, value))];
}

function edit({ path, oldString, newString, ...others }: Args): [string[], Args] | null {
  if (typeof path !== "string" || typeof oldString !== "string" || typeof newString !== "string") return null;
  const marked = (mark: string, text: string) => text.split("\n").map((line) => `${mark} ${line}`);
  return [[`path: ${path}`, ...marked("-", oldString), ...marked("+", newString)], others];
}

function command({ input, ...others }: Args): [string[], Args] | null {
  return typeof input === "string" ? [input.split("\n"), others] : null;
}

function field(name: string, value: unknown): string[] {
  if (typeof value !== "string") return [`${name}: ${JSON.stringify(value)}`];
  const lines = value.split("\n");
  return lines.length === 1 ? [`${name}: ${value}`] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
}

function limited(lines: readonly string[]): { shown: string[]; missing: string } {
  const safe = lines.map((line) => printable(line, "\t"));
  const chars = safe.reduce((sum, line) => sum + line.length, 0);
  if (safe.length <= SHOWN_LINES && chars <= SHOWN_CHARS) return { shown: safe, missing: "" };
  const cut = safe.map((line) => (line.length <= 1_000 ? line : `${line.slice(0, 500)} ... ${line.slice(-500)}`));
  const half = chars > SHOWN_CHARS ? Math.min(8, SHOWN_LINES / 2) : SHOWN_LINES / 2;
  const shown = cut.length <= half * 2 ? cut : [...cut.slice(0, half), "...", ...cut.slice(-half)];
  return { shown, missing: `Not all of these ${safe.length} lines (${chars} characters) are shown` };
}

function firstLine(text: string): string {
  const [first = "", ...others] = text.trim().split("\n");
  const isCut = others.length > 0 || first.length > LINE_CHARS;
  return isCut ? `${first.slice(0, LINE_CHARS).replace(/[\uD800-\uDBFF]$/, "")} ...` : first;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
