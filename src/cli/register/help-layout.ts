// How help looks: usage, what the command does, its subcommands in groups, options, remarks, and examples last. Wrapped at words at a
// terminal, and not at all in a pipe.

import type { Command, Help } from "commander";
import { displayWidth } from "../terminal/display-width.ts";
import { columnsOf } from "../terminal/terminal.ts";
import { wrapLines, wrapText } from "../terminal/wrap.ts";
import { type Example, HELP_TEXTS } from "./help-texts.ts";

type Row = readonly [term: string, text: string];

/** A term longer than this has its text on the next line. */
const TERM_COLUMNS_MAX = 34;

export function formatHelp(command: Command, helper: Help): string {
  const columns = columnsOf(process.stdout);
  const isRoot = command.parent === null;
  const { remarks = [], examples = [] } = HELP_TEXTS[nameWithoutProgram(command)] ?? {};
  const options = helper.visibleOptions(command).map((option): Row => [helper.optionTerm(option), helper.optionDescription(option)]);
  return [
    `Usage: ${isRoot ? "gsv <command> [options]" : helper.commandUsage(command)}`,
    "",
    wrapText(asSentence(helper.commandDescription(command)), columns),
    "",
    ...commandSections(command, helper, columns),
    ...section(isRoot ? "Options of all commands" : "Options", formatRows(options, columns)),
    ...(isRoot ? [] : [wrapText("Also --json, --url, --user, --password and --token: gsv help explains them.", columns), ""]),
    ...remarks.flatMap((remark) => [wrapText(remark, columns), ""]),
    ...section("Examples", formatExamples(examples, columns)),
  ].join("\n");
}

function commandSections(command: Command, helper: Help, columns: number): string[] {
  const isRoot = command.parent === null;
  // Commander adds a help command to every command with subcommands.
  const all = helper.visibleCommands(command).filter((one) => isRoot || one.name() !== "help");
  const term = (one: Command) => (isRoot ? one.name() : helper.subcommandTerm(one).replace(" [options]", ""));
  const width = Math.max(0, ...all.map((one) => term(one).length));
  const titles = new Set(all.map(titleOf));
  return [...titles].flatMap((title) => {
    const rows = all.filter((one) => titleOf(one) === title).map((one): Row => [term(one), helper.subcommandDescription(one)]);
    return section(title, formatRows(rows, columns, width));
  });
}

function asSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1).replace(/\.$/, "")}.`;
}

function titleOf(command: Command): string {
  return command.helpGroup() || "Commands";
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines, ""];
}

function formatRows(rows: readonly Row[], columns: number, least = 0): string[] {
  const width = Math.max(least, ...rows.map(([term]) => (term.length > TERM_COLUMNS_MAX ? 0 : term.length)));
  const indent = " ".repeat(width + 4);
  return rows.flatMap(([term, text]) => {
    const [first = "", ...others] = wrapLines(text, Math.max(20, columns - indent.length));
    const begin = term.length > width ? [`  ${term}`, `${indent}${first}`] : [`  ${term.padEnd(width)}  ${first}`];
    return [...begin.map((line) => line.trimEnd()), ...others.map((line) => indent + line)];
  });
}

/** What an example does stands beside it, or above it where the terminal is too narrow. */
function formatExamples(examples: readonly Example[], columns: number): string[] {
  const width = Math.max(0, ...examples.map(([line]) => displayWidth(line)));
  const isWide = examples.every(([, does]) => width + does.length + 6 <= Math.min(columns, 120));
  return examples.flatMap(([line, does]) =>
    isWide ? [`  ${line.padEnd(width)}  # ${does}`] : [...wrapText(`  # ${does}`, columns).split("\n"), `  ${line}`],
  );
}

function nameWithoutProgram(command: Command): string {
  const { parent } = command;
  return parent === null ? "" : `${nameWithoutProgram(parent)} ${command.name()}`.trim();
}
