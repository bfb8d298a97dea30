// A request as a person reads it before deciding: everything that will run, each argument by name. An omission says how much is
// missing.

import { canonicalJson } from "./digest.ts";
import type { ExactCall } from "./digest.ts";
import { SUBJECT_CHARS_MAX, workingDirectoryOf } from "./asked-call.ts";
import { MCP_CALL } from "./request.ts";
import { makeVisible } from "./visible.ts";

export type VisibleRequest = {
  text: string;
  /** Whether nothing is omitted. Otherwise `formatRequest` with `whole` shows the rest. */
  isWhole: boolean;
};

/** People decide by the whole command, but only skim the content of a file. */
const COMMAND_CHARS_MAX = 32 * 1024;
const VALUE_CHARS_MAX = 4 * 1024;
const VALUES_MAX = 100;
const NAME_CHARS_MAX = 1024;

type Request = Pick<ExactCall, "call" | "args" | "target" | "cwd">;

export function formatRequest(request: Request, whole = false): VisibleRequest {
  const { call, target, cwd } = request;
  const where = `${makeVisible(call)} on ${makeVisible(target)}${cwd === "" ? "" : `, in ${makeVisible(cwd)}`}`;
  const { lines, isWhole } = formatArguments(request, whole);
  return { text: [call === MCP_CALL ? makeVisible(target) : where, ...lines].join("\n"), isWhole };
}

/**
 * What its title (question-words.ts) does not say: all arguments, of which a command stands without its name, and the directory if it
 * matters. A long name of a machine is shortened in the title, and so repeated here.
 */
export function formatBody(request: Request, whole = false): VisibleRequest {
  const { call, args, target } = request;
  const { target: named, ...rest } = args;
  const isInTitle = named === target && target.length <= SUBJECT_CHARS_MAX;
  const { lines, isWhole } = formatArguments({ ...request, args: isInTitle ? rest : args }, whole);
  const directory = workingDirectoryOf({ ...request, syscall: call });
  const isListed = call === "shell.exec" && typeof args.cwd === "string";
  const above = call === MCP_CALL ? [makeVisible(target)] : [];
  const below = directory === null || isListed ? [] : [`in ${directory}`];
  const shown = call === "shell.exec" ? lines.map((line) => line.replace(/^input: /, "")) : lines;
  return { text: [...above, ...shown, ...below].join("\n"), isWhole };
}

function formatArguments({ call, args }: Request, whole: boolean): { lines: string[]; isWhole: boolean } {
  const values = call === MCP_CALL ? flattenToolCall(args) : flattenArguments(args, "");
  const listed = whole ? values : values.slice(0, VALUES_MAX);
  let isWhole = listed.length === values.length;
  const lines: string[] = [];
  for (const [name, value] of listed) {
    const limit = whole ? Infinity : call === "shell.exec" && name === "input" ? COMMAND_CHARS_MAX : VALUE_CHARS_MAX;
    const [text, isCut] = typeof value === "string" ? abridge(value, limit) : [makeVisible(canonicalJson(value)), false];
    const [shownName, isNameCut] = abridge(name, whole ? Infinity : NAME_CHARS_MAX);
    isWhole &&= !isCut && !isNameCut;
    lines.push(...argumentLines(shownName.replaceAll("\n", " "), text));
  }
  if (listed.length < values.length) lines.push(`⟨${values.length - listed.length} more arguments not shown⟩`);
  return { lines, isWhole };
}

/** Lines of the text start with a bar, so that none of them looks like one of ours. */
function argumentLines(name: string, text: string): string[] {
  if (text === "") return [`${name}: ⟨empty⟩`];
  return text.includes("\n") ? [`${name}:`, ...text.split("\n").map((line) => `  | ${line}`)] : [`${name}: ${text}`];
}

/** The start and the end of a long text, with the number of omitted characters between them. */
export function abridge(text: string, charsMax: number): [text: string, isCut: boolean] {
  if (text.length <= charsMax) return [makeVisible(text), false];
  const head = text.slice(0, charBoundary(text, Math.ceil(charsMax * 0.75)));
  const tail = text.slice(charBoundary(text, text.length - Math.floor(charsMax * 0.25)));
  const missing = text.length - head.length - tail.length;
  return [`${makeVisible(head)}\n⟨${missing} of ${text.length} characters not shown⟩\n${makeVisible(tail)}`, true];
}

/** Avoids splitting a surrogate pair. */
function charBoundary(text: string, at: number): number {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at + 1 : at;
}

/** The target names the tool and its server. What the tool gets comes first, and then what the call says besides. */
function flattenToolCall({ serverId: _, name: __, arguments: given, ...rest }: ExactCall["args"]): [name: string, value: unknown][] {
  const others = Object.fromEntries(Object.entries(rest).map(([key, value]) => [`sys.mcp.call ${key}`, value]));
  return [...flattenArguments(given ?? {}, ""), ...flattenArguments(others, "")];
}

/** Flattens objects and arrays into names such as `to.path` and `ops[0].content`. */
function flattenArguments(value: unknown, name: string): [name: string, value: unknown][] {
  if (typeof value !== "object" || value === null) return value === undefined ? [] : [[name, value]];
  const members: [string, unknown][] = Array.isArray(value)
    ? value.map((item: unknown, at) => [`${name}[${at}]`, item])
    : Object.entries(value).map(([key, member]) => [name === "" ? key : `${name}.${key}`, member]);
  if (members.length === 0) return name === "" ? [] : [[name, value]];
  return members.flatMap(([key, member]) => flattenArguments(member, key));
}
