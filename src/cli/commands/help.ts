// gsv help: explains a command by commander's description of it, or a syscall by the generated reference.

import type { Command } from "commander";
import { formatSchemaAsType } from "../../lib/schema-text.ts";
import type { SyscallReference } from "../../protocol/reference.ts";
import { reference } from "../../generated/reference.ts";
import { describeShellCommand } from "../terminal/shell-command.ts";
import { findSimilar } from "../terminal/suggest.ts";
import { Problem } from "../terminal/problem.ts";
import { printNote, printSentences, printText, printTable } from "../terminal/terminal.ts";

export function help(program: Command, words: readonly string[]): void {
  const command = findCommand(program, words);
  if (command !== null) return command.outputHelp();
  const name = words.join(".");
  if (name === "syscalls") return printCalls(reference);
  const found = reference.find((call) => call.name === name);
  if (found !== undefined) return printText(formatPage(found));
  const family = reference.filter((call) => call.name.startsWith(`${name.replace(/\.\*?$/, "")}.`));
  if (family.length > 0) printCalls(family);
  const inShell = describeShellCommand(name);
  if (family.length > 0) return inShell === null ? undefined : printNote(inShell);
  if (inShell !== null) return printSentences(inShell);
  const names = [...reference.map((call) => call.name), ...program.commands.map((sub) => sub.name())];
  const suggestions = findSimilar(name, names);
  const hint =
    suggestions.length > 0 ? `Did you mean ${suggestions.join(", ")}?` : "gsv help lists commands, gsv help syscalls lists syscalls";
  throw new Problem(`No such command or syscall: ${words.join(" ")}. ${hint}`);
}

function findCommand(program: Command, words: readonly string[]): Command | null {
  let current = program;
  for (const word of words) {
    const next = current.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
    if (next === undefined) return null;
    current = next;
  }
  return current;
}

function printCalls(calls: readonly SyscallReference[]): void {
  printTable(
    ["SYSCALL", "DESCRIPTION"],
    calls.map(({ name, doc }) => [name, firstSentence(doc)]),
  );
}

function formatPage(call: SyscallReference): string {
  const example = { type: "req", id: "1", call: call.name, args: call.example.args };
  const answer = { type: "res", id: "1", ok: true, data: call.example.result };
  const fails = Object.entries(call.fails);
  return [
    `${call.name} (${KINDS[call.does]})`,
    "",
    call.doc,
    "",
    `Who may call it: ${callersText(call)}`,
    "",
    `Arguments: ${formatSchemaAsType(call.args, 0)}`,
    "",
    `Result: ${formatSchemaAsType(call.result, 0)}`,
    ...(fails.length === 0 ? [] : ["", "Errors:", ...fails.map(([code, meaning]) => `  ${code}  ${meaning}`)]),
    "",
    "Example:",
    `  gsv call ${call.name} '${JSON.stringify(call.example.args).replaceAll("'", "'\\''")}'`,
    `  -> ${JSON.stringify(example)}`,
    `  <- ${JSON.stringify(answer)}`,
  ].join("\n");
}

const KINDS: Record<SyscallReference["does"], string> = { read: "reads only", write: "one transaction", effect: "has effects" };

function callersText({ from, grant }: SyscallReference): string {
  if (from.includes("stranger")) return "anybody, before login";
  const groups =
    grant.length === 0
      ? "root, unless granted to others"
      : `root and the ${grant.join(" and ")} group${grant.length > 1 ? "s" : ""}, unless changed`;
  return `${from.join(", ")} connections; capability held by ${groups}`;
}

function firstSentence(doc: string): string {
  return /^.*?\.(?=\s|$)/s.exec(doc)?.[0] ?? doc;
}
