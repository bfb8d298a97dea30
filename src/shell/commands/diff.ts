// diff, in the normal and the unified format. just-bash's own supports only the unified format, and no directories.

import { diffArrays, structuredPatch } from "diff";
import { defineCommandFile, type CommandContext, CommandError } from "../command.ts";

const FLAGS: Readonly<Record<string, string>> = {
  unified: "u",
  brief: "q",
  recursive: "r",
  "new-file": "N",
  "ignore-case": "i",
  "ignore-all-space": "w",
  "ignore-space-change": "b",
  "ignore-blank-lines": "B",
  "report-identical-files": "s",
  text: "a",
};

type Style = { flags: ReadonlySet<string>; context: number };
type Side = { name: string; lines: string[]; endsOpen: boolean; at: Date };

export default defineCommandFile({
  name: "diff",
  usage: "[-uqrNiwbBsa] [-U lines] one other",
  doc: "Show how two files or directories differ; - is standard input. -u adds context lines, -U sets how many, -q only reports whether they differ, -r compares directories recursively, -N treats absent files as empty, -i ignores case, -w and -b ignore white space, -B ignores empty lines. Exits with 0 if nothing differs, 1 if something does.",
  async run(context, args) {
    const { style, paths } = parseArgs(args);
    const [one, other, ...more] = paths;
    if (one === undefined || other === undefined || more.length > 0) throw new CommandError("takes two files", 2);
    try {
      const stdout = await compare(context, one, other, style, "");
      return { stdout, exitCode: stdout === "" || reportsNoDifference(stdout) ? 0 : 1 };
    } catch (error) {
      throw error instanceof CommandError ? new CommandError(error.message, TROUBLE) : error;
    }
  },
});

const TROUBLE = 2;

function parseArgs(args: readonly string[]): { style: Style; paths: string[] } {
  const flags = new Set<string>();
  const paths: string[] = [];
  let context = 3;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    const lines = /^(?:-U|--unified=)(\d*)$/.exec(arg)?.[1];
    if (lines !== undefined) {
      flags.add("u");
      context = Number(lines === "" ? args[++at] : lines);
    } else if (arg.startsWith("--color") || arg === "--no-dereference") continue;
    else if (arg.startsWith("--")) flags.add(FLAGS[arg.slice(2)] ?? failUnknown(arg));
    else if (/^-./.test(arg))
      for (const letter of arg.slice(1)) flags.add(Object.values(FLAGS).includes(letter) ? letter : failUnknown(arg));
    else paths.push(arg);
  }
  return { style: { flags, context }, paths };
}

async function compare(context: CommandContext, one: string, other: string, style: Style, head: string): Promise<string> {
  const [a, b] = [await kindOf(context, one), await kindOf(context, other)];
  if (a === "directory" && b === "directory") return compareDirectories(context, one, other, style);
  if (a === "directory") return compare(context, `${one}/${other.split("/").pop()}`, other, style, head);
  if (b === "directory") return compare(context, one, `${other}/${one.split("/").pop()}`, style, head);
  const [left, right] = [await readSide(context, one, style), await readSide(context, other, style)];
  const isEqual = normalize(left, style).join("\n") === normalize(right, style).join("\n") && left.endsOpen === right.endsOpen;
  if (isEqual) return style.flags.has("s") ? `Files ${one} and ${other} are identical\n` : "";
  if (style.flags.has("q")) return `Files ${one} and ${other} differ\n`;
  return head + (style.flags.has("u") ? formatUnified(left, right, style) : formatNormal(left, right, style));
}

async function compareDirectories(context: CommandContext, one: string, other: string, style: Style): Promise<string> {
  const names = async (path: string) => (await context.link.list(context.resolve(path))).map(({ name }) => name);
  const [left, right] = [new Set(await names(one)), new Set(await names(other))];
  let out = "";
  for (const name of [...new Set([...left, ...right])].toSorted()) {
    const [a, b] = [`${one.replace(/\/$/, "")}/${name}`, `${other.replace(/\/$/, "")}/${name}`];
    const isBoth = left.has(name) && right.has(name);
    if (!isBoth && !style.flags.has("N")) out += `Only in ${left.has(name) ? one : other}: ${name}\n`;
    else if (isBoth && (await kindOf(context, a)) === "directory" && (await kindOf(context, b)) === "directory")
      out += style.flags.has("r") ? await compareDirectories(context, a, b, style) : `Common subdirectories: ${a} and ${b}\n`;
    else out += await compare(context, a, b, style, `diff ${[...style.flags].map((flag) => `-${flag} `).join("")}${a} ${b}\n`);
  }
  return out;
}

async function kindOf({ link, resolve }: CommandContext, path: string): Promise<string> {
  if (path === "-") return "file";
  return link.stat(resolve(path)).then(
    ({ kind }) => kind,
    () => "file",
  );
}

async function readSide({ read, link, resolve }: CommandContext, name: string, { flags }: Style): Promise<Side> {
  const bytes = await read(name).catch((error: unknown) => {
    if (flags.has("N")) return new Uint8Array();
    throw error;
  });
  const text = new TextDecoder().decode(bytes);
  const lines = text.split("\n");
  const endsOpen = lines.at(-1) !== "";
  if (!endsOpen) lines.pop();
  const at = await link.stat(resolve(name)).then(
    ({ modifiedAt }) => new Date(modifiedAt),
    () => new Date(0),
  );
  return { name, lines, endsOpen: endsOpen && text !== "", at };
}

/** The lines without the differences that the flags ignore. */
function normalize({ lines }: Side, { flags }: Style): string[] {
  const kept = flags.has("B") ? lines.filter((line) => line.trim() !== "") : lines;
  return kept.map((line) => {
    const text = flags.has("i") ? line.toLowerCase() : line;
    if (flags.has("w")) return text.replace(/\s+/g, "");
    return flags.has("b") ? text.replace(/\s+/g, " ").trimEnd() : text;
  });
}

function formatNormal(left: Side, right: Side, style: Style): string {
  const changes = diffArrays(
    normalize(left, { ...style, flags: flagsWithoutB(style) }),
    normalize(right, { ...style, flags: flagsWithoutB(style) }),
  );
  let [a, b] = [0, 0];
  let out = "";
  for (let at = 0; at < changes.length; at++) {
    const { added, removed, value } = changes[at]!;
    if (!added && !removed) {
      a += value.length;
      b += value.length;
      continue;
    }
    const next = changes[at + 1];
    const isPair = next !== undefined && (next.added || next.removed);
    const removedCount = removed ? value.length : isPair ? next.value.length : 0;
    const addedCount = added ? value.length : isPair ? next.value.length : 0;
    if (isPair) at++;
    const verb = removedCount === 0 ? "a" : addedCount === 0 ? "d" : "c";
    out += `${formatLineRange(a, removedCount)}${verb}${formatLineRange(b, addedCount)}\n`;
    out += formatLines(left, a, removedCount, "< ");
    if (verb === "c") out += "---\n";
    out += formatLines(right, b, addedCount, "> ");
    a += removedCount;
    b += addedCount;
  }
  return out;
}

/** The flags without -B, so that lines keep their numbers. */
function flagsWithoutB({ flags }: Style): ReadonlySet<string> {
  return new Set([...flags].filter((flag) => flag !== "B"));
}

function formatLineRange(before: number, count: number): string {
  if (count === 0) return String(before);
  return count === 1 ? String(before + 1) : `${before + 1},${before + count}`;
}

function formatLines({ lines, endsOpen }: Side, from: number, count: number, mark: string): string {
  const isOpen = endsOpen && count > 0 && from + count === lines.length;
  return lines
    .slice(from, from + count)
    .map((line) => `${mark}${line}\n`)
    .join("")
    .concat(isOpen ? "\\ No newline at end of file\n" : "");
}

function formatUnified(left: Side, right: Side, { flags, context }: Style): string {
  const text = ({ lines, endsOpen }: Side) => lines.join("\n") + (endsOpen || lines.length === 0 ? "" : "\n");
  const { hunks } = structuredPatch(left.name, right.name, text(left), text(right), "", "", {
    context,
    ignoreWhitespace: flags.has("w") || flags.has("b"),
  });
  const stamp = ({ name, at }: Side) => `${name}\t${at.toISOString().replace("T", " ").replace("Z", "000000 +0000")}`;
  const formatRange = (start: number, lines: number) => (lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`);
  const bodies = hunks.map(
    ({ oldStart, oldLines, newStart, newLines, lines }) =>
      `@@ -${formatRange(oldStart, oldLines)} +${formatRange(newStart, newLines)} @@\n${lines.join("\n")}\n`,
  );
  return `--- ${stamp(left)}\n+++ ${stamp(right)}\n${bodies.join("")}`;
}

function reportsNoDifference(stdout: string): boolean {
  return stdout.split("\n").every((line) => line === "" || /^Files .* are identical$|^Common subdirectories: /.test(line));
}

function failUnknown(flag: string): never {
  throw new CommandError(`unknown option ${flag}`, 2);
}
