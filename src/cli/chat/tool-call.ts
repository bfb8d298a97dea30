// A tool call as a person sees it: one line while it runs, and whole in a question. A model wrote the arguments, so they are escaped
// and cannot imitate other output.

import { parseScriptReport, scriptPurpose } from "../../client/script-text.ts";
import { isMcpTool, isScriptTool, nameOfTool } from "../../client/tool-names.ts";
import { verbOfSession, verbOfTool } from "../../lib/tool-verbs.ts";
import { formatBody } from "../../approval/show.ts";
import { type OutputMode, applyStyle } from "../terminal/text-style.ts";
import type { HilRequest } from "../../protocol/proc-records.ts";
import { escapeControls } from "../terminal/terminal.ts";

type Args = Readonly<Record<string, unknown>>;

export type ToolCall = { name: string; syscall: string | null; args: Args };

/** Asks a person whether exactly this call may run, or whether the budget may be exceeded. */
export type Question = Pick<
  HilRequest,
  "requestId" | "runId" | "conversationId" | "callId" | "syscall" | "args" | "target" | "cwd" | "why" | "title" | "explanation"
>;

export const BUDGET = "proc.budget";
const LINE_CHARS = 80;
/** Lines of a result that are shown on request; the rest is in the history. */
const RESULT_LINES = 30;

/** Name, target and subject: Shell macbook  git status */
export function toolLine({ name, syscall, args }: ToolCall): string {
  const target = stringOrEmpty(args.target);
  const about = firstLine(isScriptTool(name) ? scriptPurpose(stringOrEmpty(args.code)) : callSubject(syscall, args));
  return escapeControls([nameOfTool(name), target, about === "" ? "" : ` ${about}`].filter((part) => part !== "").join(" "));
}

/** What a call is doing: running `npm test` on laptop. */
export function describeRunningCall(call: ToolCall): string {
  const { name, syscall, args } = call;
  const session = verbOfSession(call);
  const target = stringOrEmpty(args.target);
  const place = target === "" || target === "gsv" || isMcpTool(name) ? "" : ` on ${target}`;
  const about = session !== null || isScriptTool(name) ? "" : firstLine(callSubject(syscall, args));
  const verb = (session ?? verbOfTool(name)).present;
  return escapeControls(`${verb.slice(0, 1).toLowerCase()}${verb.slice(1)}${about === "" ? "" : ` \`${about}\``}${place}`);
}

/** What is asked in words, everything that would run, and why it is asked; the caller adds how to answer. */
export function questionText(question: Question, look: OutputMode, isWhole = false): string {
  const paint = (text: string, style: "bold" | "yellow" | "dim") => (look === "styled" ? applyStyle(text, style) : text);
  const { syscall, args, target, cwd, why, title, explanation } = question;
  const head = paint(`? ${escapeControls(title)}?`, "yellow");
  if (syscall === BUDGET) return `${head}\n  ${escapeControls(why)}`;
  const shown = formatBody({ call: syscall, args, target, cwd }, isWhole);
  const lines = shown.text.split("\n").map((line) => `  ${escapeControls(line)}`);
  const missing = shown.isWhole ? [] : [paint("  Not shown in full: press w to see all of it before you allow it", "yellow")];
  const because = explanation === "" ? [] : [paint(`  ${escapeControls(explanation)}`, "dim")];
  return [head, ...lines, ...missing, ...because].join("\n");
}

/** Keeps only the fields of a question; signals and lists have more. */
export function pickQuestionFields(question: Question): Question {
  const { requestId, runId, conversationId, callId, syscall, args, target, cwd, why, title, explanation } = question;
  return { requestId, runId, conversationId, callId, syscall, args, target, cwd, why, title, explanation };
}

/** Why a call failed, in a few words: its exit code, its last error line, or its first line. */
export function failureText(error: string): string {
  const script = parseScriptReport(error);
  if (script?.status === "failed") return escapeControls(`failed: ${firstLine(script.error)}`);
  const exit = /Command exited with code (\d+)\s*$/.exec(error)?.[1];
  if (exit !== undefined) return `exit ${exit}`;
  const lines = error.trim().split("\n");
  const last = lines.findLast((line) => line.startsWith("Error: ")) ?? lines[0] ?? "";
  return escapeControls(`failed: ${firstLine(last.replace(/^Error: /, ""))}`);
}

export function resultText(output: string): string {
  const lines = escapeControls(reportText(output).trimEnd(), "\n\t").split("\n");
  const shown = lines.slice(0, RESULT_LINES).map((line) => `  ${line.slice(0, 500)}`);
  const missing = lines.length - shown.length;
  return output.trim() === "" ? "" : [...shown, ...(missing > 0 ? [`  ... ${missing} more lines`] : [])].join("\n");
}

/** What a script logged, then its result or where it failed; any other output as it is. */
function reportText(output: string): string {
  const report = parseScriptReport(output);
  if (report === null) return output;
  const { logs, status } = report;
  if (status === "failed") return [...logs, report.stack === "" ? report.error : report.stack].join("\n");
  const { result = null } = report;
  return [...logs, ...(result === null ? [] : [typeof result === "string" ? result : JSON.stringify(result, null, 2)])].join("\n");
}

/** What a person can do about a failed run, where the error itself does not say so. */
export function adviceAfterFailedRun(reason: string): string {
  switch (reason) {
    case "generation.error":
    case "generation.empty":
      return "Send the message again to retry. To see which model is used: gsv config get config/ai";
    case "lease.expired":
      return "The run made no progress for too long. Send the message again to retry";
    case "internal":
      return "Send the message again to retry. The gateway's log has the details";
    default:
      return "";
  }
}

function callSubject(syscall: string | null, args: Args): string {
  switch (syscall) {
    case "shell.exec":
      return typeof args.sessionId === "string" ? `${args.sessionId} ${stringOrEmpty(args.input)}` : stringOrEmpty(args.input);
    case "fs.search":
      return [stringOrEmpty(args.query), stringOrEmpty(args.path)].filter((part) => part !== "").join(" in ");
    case "fs.read":
    case "fs.write":
    case "fs.edit":
    case "fs.delete":
      return stringOrEmpty(args.path);
    case "sys.mcp.call":
      return `${stringOrEmpty(args.name)} ${JSON.stringify(args.arguments ?? {})}`;
    default: {
      const rest = withoutTarget(args);
      return Object.keys(rest).length === 0 ? "" : JSON.stringify(rest);
    }
  }
}

function withoutTarget({ target: _, ...rest }: Args): Args {
  return rest;
}

function firstLine(text: string): string {
  const [first = "", ...others] = text.trim().split("\n");
  const isCut = others.length > 0 || first.length > LINE_CHARS;
  return isCut ? `${first.slice(0, LINE_CHARS).replace(/[\uD800-\uDBFF]$/, "")} ...` : first;
}

function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
