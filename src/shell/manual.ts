// The manual: our commands include their pages in their source files; system calls and guides are pages in /etc.

import { FileError } from "../hardware/filesystem.ts";
import { type CommandContext, CommandError, type CommandFile } from "./command.ts";

/** Where the pages of system calls and the guides are stored. */
const CALLS = "/etc/man";
const GUIDES = "/etc/docs";
const PAGE_BYTES_MAX = 1024 * 1024;
const LINE_CHARS = 100;

type ManualSources = Pick<CommandContext, "link" | "commands" | "commandNames">;

export function summaryOf({ doc }: CommandFile): string {
  return /^.*?[.](?=\s|$)/.exec(doc)?.[0] ?? doc;
}

export async function formatManualIndex({ link, commands }: ManualSources): Promise<string> {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const listPages = async (folder: string) =>
    (await link.list(folder).catch(() => [])).map(({ name }) => name.replace(/\.md$/, "")).toSorted();
  return [
    "man TOPIC shows one of these pages.",
    "",
    "Commands:",
    ...commands.map((file) => `  ${file.name.padEnd(width)}  ${summaryOf(file)}`),
    "",
    "System calls:",
    ...(await listPages(CALLS)).map((name) => `  ${name}`),
    "",
    "Guides:",
    ...(await listPages(GUIDES)).map((name) => `  ${name}`),
    "",
  ].join("\n");
}

export async function readManual({ link, commands, commandNames }: ManualSources, topic: string): Promise<string> {
  const own = commands.find(({ name }) => name === topic);
  if (own !== undefined) {
    const summary = summaryOf(own);
    const heading = `${own.name}: ${summary}\n\nUsage: ${own.name}${own.usage === "" ? "" : ` ${own.usage}`}\n`;
    const rest = own.doc.slice(summary.length).trim();
    const page = rest === "" ? heading : `${heading}\n${rest.split("\n").map(wrapLine).join("\n")}\n`;
    const guides = await link.list(GUIDES).catch(() => []);
    return guides.some(({ name }) => name === `${topic}.md`) ? `${page}\nThe guide: cat ${GUIDES}/${topic}.md\n` : page;
  }
  if (/^[a-z0-9.-]+$/i.test(topic)) {
    for (const folder of [CALLS, GUIDES]) {
      const page = await link.read(`${folder}/${topic}.md`, { start: 0, end: PAGE_BYTES_MAX }).catch((error: unknown) => {
        if (error instanceof FileError) return null;
        throw error;
      });
      if (page !== null) return new TextDecoder().decode(page);
    }
  }
  if (commandNames().includes(topic)) return `${topic} works as on any Unix; ${topic} --help shows its options here.\n`;
  throw new CommandError(`no manual entry for ${topic}: man lists all entries`);
}

/** What continues a line is indented, so that the beginning of the next one is seen. */
function wrapLine(line: string): string {
  const lines: string[] = [];
  let rest = line;
  while (rest.length > LINE_CHARS) {
    const at = rest.lastIndexOf(" ", LINE_CHARS);
    if (rest.slice(0, at).trim() === "") break;
    lines.push(rest.slice(0, at));
    rest = `  ${rest.slice(at + 1)}`;
  }
  return [...lines, rest].join("\n");
}
