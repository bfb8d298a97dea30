// Generates the data in docs/guides/shell.md: commands, limits, and how the shell compares with bash. Each is between a pair of
// comments; the rest of the guide is written by hand.

import { SESSIONS_PER_OWNER } from "../../src/hardware/sessions.ts";
import { shellCommands } from "../../src/shell/commands.table.ts";
import { OBJECT_LIMITS, THREAD_LIMITS } from "../../src/shell/limits.ts";
import { summaryOf } from "../../src/shell/manual.ts";
import { PROGRAMS } from "../../src/shell/interpreter.ts";
import { snippets } from "../../test/shell/corpus.ts";
import { differences } from "../../test/shell/differences.ts";
import { filled } from "./filled.ts";

export const SHELL_GUIDE = "docs/guides/shell.md";

export function shellGuide(text: string): string {
  return filled(SHELL_GUIDE, text, { commands, others, limits, rate, differing });
}

function commands(): string {
  const rows = shellCommands.map((file) => `| \`${file.name}\` | ${cell(summaryOf(file))} |`);
  return `| command | |\n| --- | --- |\n${rows.join("\n")}`;
}

function others(): string {
  const own = new Set(shellCommands.map(({ name }) => name));
  const names = [...PROGRAMS].filter((name) => !own.has(name)).toSorted();
  return wrapLines(names.map((name) => `\`${name}\``).join(" "));
}

function limits(): string {
  const [node, object] = [THREAD_LIMITS.counts, OBJECT_LIMITS.counts];
  const names = [...new Set([...Object.keys(node), ...Object.keys(object)])] as (keyof typeof node)[];
  const format = (value: unknown) => (typeof value === "number" ? value.toLocaleString("en") : "just-bash's default");
  const rows = names.map((name) => `| ${name} | ${format(node[name])} | ${format(object[name])} |`);
  const running = `| commands of one user at a time | ${SESSIONS_PER_OWNER} | ${SESSIONS_PER_OWNER} |`;
  return `| limit | Node | Cloudflare |\n| --- | --- | --- |\n${[...rows, running].join("\n")}`;
}

function rate(): string {
  const all = snippets();
  const themes = [...new Set(all.map(({ theme }) => theme))].map((theme) => {
    const own = all.filter((snippet) => snippet.theme === theme);
    const same = own.filter(({ name }) => !Object.hasOwn(differences, name)).length;
    return `| ${theme} | ${own.length} | ${same} |`;
  });
  const same = all.length - Object.keys(differences).length;
  const percent = ((100 * same) / all.length).toFixed(1);
  return `**${same} of ${all.length} snippets (${percent} %) do the same.**\n\n| theme | snippets | the same |\n| --- | --- | --- |\n${themes.join("\n")}`;
}

function differing(): string {
  const themes = new Map(snippets().map(({ name, theme }) => [name, theme]));
  // Several snippets may show the same difference.
  const byReason = new Map<string, string[]>();
  for (const [name, reason] of Object.entries(differences)) byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  const rows = [...byReason].map(([reason, names]) => `| ${themes.get(names[0]!)}: ${names.join(", ")} | ${cell(reason)} |`);
  return `| snippet | what is different |\n| --- | --- |\n${rows.join("\n")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function wrapLines(text: string): string {
  return text.replace(/(.{1,118})(?: |$)/g, "$1\n").trimEnd();
}
