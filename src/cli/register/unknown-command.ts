// Commander's errors in our words. For a command that does not exist, the error names the nearest one, where a word that people know
// from elsewhere leads, or that it is a command of the gateway's shell.

import type { Command } from "commander";
import { describeShellCommand } from "../terminal/shell-command.ts";
import { findSimilar } from "../terminal/suggest.ts";

/** Words that people try, and the command that does it. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  agents: "proc list",
  allow: "approvals approve",
  ask: "chat",
  browser: "open",
  deny: "approvals deny",
  desktop: "open",
  devices: "device list",
  exec: "run",
  install: "command install",
  login: "auth login",
  logout: "auth logout",
  logs: "up --service logs",
  machine: "device",
  machines: "device list",
  notifications: "notify list",
  schedule: "sched",
  schedules: "sched list",
  settings: "config get",
  setup: "auth setup",
  ssh: "shell --target NAME",
  start: "up",
  terminal: "shell --target NAME",
  tokens: "token list",
  users: "user list",
  web: "open",
};

export function explainError(program: Command, error: string, words: readonly string[]): string {
  const text = error.replace(/^error: /, "gsv: ");
  const unknown = /unknown command '([^']+)'/.exec(text)?.[1];
  const parent = findParent(program, words);
  // A command that does something by itself takes a wrong subcommand for an argument.
  const extra =
    /too many arguments/.test(text) && parent.commands.length > 0 ? words.find((word) => !isKnown(parent, word, words)) : undefined;
  const name = unknown ?? extra;
  return name === undefined ? text : `gsv: ${explainUnknown(program, parent, name)}\n`;
}

function explainUnknown(program: Command, parent: Command, name: string): string {
  const isRoot = parent === program;
  const prefix = isRoot ? "" : `${parent.name()} `;
  const other = isRoot && Object.hasOwn(OTHER_WORDS, name) ? OTHER_WORDS[name] : undefined;
  if (other !== undefined) return `Unknown command ${name}. Use gsv ${other}`;
  const inShell = isRoot ? describeShellCommand(name) : null;
  if (inShell !== null) return inShell;
  const [similar] = findSimilar(name, namesOf(parent));
  if (similar !== undefined) return `Unknown command ${prefix}${name}. Did you mean gsv ${prefix}${similar}?`;
  return isRoot
    ? `Unknown command ${name}. gsv help lists all commands`
    : `Unknown command ${prefix}${name}. gsv help ${parent.name()} lists them`;
}

function findParent(program: Command, words: readonly string[]): Command {
  let parent = program;
  for (const word of words) {
    const next = parent.commands.find((one) => one.name() === word);
    if (next !== undefined && next.commands.length > 0) parent = next;
  }
  return parent;
}

function isKnown(parent: Command, word: string, words: readonly string[]): boolean {
  return word.startsWith("-") || words.indexOf(word) <= words.indexOf(parent.name());
}

function namesOf(parent: Command): string[] {
  return parent.commands.filter((one) => !one.name().startsWith("__")).map((one) => one.name());
}
