// Describes the result of a tool in a sentence or two, for the results of fs.*, shell.exec and scripts.

import type { ModelMessage } from "../ports/models.ts";

type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

export function resultSentence(args: Record<string, unknown>, result: ToolMessage): string {
  const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const where = result.toolName === "CodeMode" ? "in the script" : `on ${stringOrUndefined(args.target) ?? "gsv"}`;
  const fields = parseRecord(text);
  const error = stringOrUndefined(fields?.error);
  if (result.isError || fields?.ok === false || fields?.status === "failed")
    return withQuote(`That did not work ${where}: ${error ?? text.replace(/^Error: /, "")}`, stringOrUndefined(fields?.output) ?? "");
  if (fields === null) return text === "" ? `Done ${where}.` : withQuote(`Result ${where}:`, text);
  return describeSuccess(result.toolName, fields, where);
}

function describeSuccess(tool: string, fields: Record<string, unknown>, where: string): string {
  const path = stringOrUndefined(fields.path) ?? "it";
  switch (tool) {
    case "Read":
      return describeReadResult(fields, path, where);
    case "Write":
      return `Written: ${path} ${where}, ${Number(fields.size ?? 0)} bytes.`;
    case "Edit":
      return `Changed ${path} ${where} in ${pluralize(Number(fields.replacements ?? 0), "place")}.`;
    case "Delete":
      return `Deleted ${path} ${where}.`;
    case "Search": {
      const matches = arrayOrEmpty(fields.matches).map((match) => toRecord(match));
      const lines = matches.map(
        (match) => `${stringOrUndefined(match.path) ?? ""}:${Number(match.line)}: ${stringOrUndefined(match.content) ?? ""}`,
      );
      return withQuote(`${pluralize(lines.length, "line")} found ${where}${lines.length > 0 ? ":" : "."}`, lines.join("\n"));
    }
    case "Shell": {
      const output = stringOrUndefined(fields.output) ?? "";
      if (fields.status === "running") return withQuote(`The command is still running ${where}. Its output so far:`, output);
      const exit = fields.exitCode === 0 ? "" : ` with exit code ${Number(fields.exitCode)}`;
      return withQuote(`The command ended${exit} ${where}${output === "" ? " without output." : ". Its output:"}`, output);
    }
    case "CodeMode": {
      const value = typeof fields.result === "string" ? fields.result : JSON.stringify(fields.result ?? null, null, 2);
      return withQuote("The script ended. It returned:", value);
    }
    default:
      return withQuote(`Result ${where}:`, JSON.stringify(fields));
  }
}

function describeReadResult(fields: Record<string, unknown>, path: string, where: string): string {
  if (!Array.isArray(fields.files) && !Array.isArray(fields.directories)) {
    const content =
      stringOrUndefined(fields.content) ??
      arrayOrEmpty(fields.content)
        .map((block) => stringOrUndefined(toRecord(block).text) ?? "")
        .join("\n");
    return withQuote(`${path} ${where} contains:`, content);
  }
  const directories = arrayOrEmpty(fields.directories).map((name) => String(name));
  const files = arrayOrEmpty(fields.files).map((name) => String(name));
  if (path === "/sys/devices") {
    const names = [...directories, ...files];
    return names.length === 0
      ? "No device has connected yet: gsv token create --device shows how."
      : `The gateway knows ${pluralize(names.length, "device")}: ${names.join(", ")}.`;
  }
  const names = [...directories.map((name) => `${name}/`), ...files];
  return withQuote(
    `${path} ${where} contains ${pluralize(directories.length, "directory", "directories")} and ${pluralize(files.length, "file")}${names.length > 0 ? ":" : "."}`,
    names.join("\n"),
  );
}

const QUOTED_CHARS = 2000;

function withQuote(sentence: string, text: string): string {
  const trimmed = text.replace(/\s+$/, "");
  if (trimmed === "") return sentence;
  return `${sentence}\n${trimmed.length > QUOTED_CHARS ? `${trimmed.slice(0, QUOTED_CHARS)}\n... and more` : trimmed}`;
}

function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function parseRecord(text: string): Record<string, unknown> | null {
  if (!text.startsWith("{")) return null;
  try {
    return toRecord(JSON.parse(text));
  } catch {
    return null;
  }
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function arrayOrEmpty(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
