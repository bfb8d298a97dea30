// ls, with the real owners and modes.

import { FileError, type FileStat } from "../../hardware/filesystem.ts";
import { defineCommandFile, type CommandContext, parseFlags } from "../command.ts";
import { humanSize } from "../human-size.ts";
import { formatMode } from "../modes.ts";
import { People } from "../people.ts";

const FLAGS = {
  all: "a",
  "almost-all": "A",
  long: "l",
  "human-readable": "h",
  recursive: "R",
  reverse: "r",
  "by-size": "S",
  classify: "F",
  directory: "d",
  "by-time": "t",
  one: "1",
  "numeric-uid-gid": "n",
  slashes: "p",
};

type Item = { name: string; path: string; stat: FileStat };
type Style = { flags: ReadonlySet<string>; people: People | null; now: number };

export default defineCommandFile({
  name: "ls",
  usage: "[-aAlhRrSFpdt1n] [path...]",
  doc: "List files. -a lists all, -A all but . and .., -l adds owners and modes, -h prints sizes with units, -R lists subdirectories, -r reverses the order, -S sorts by size, -t by time, -F and -p mark directories, -d lists the directory itself, -1 one file per line, -n owners as numbers.",
  async run(context, args) {
    const { flags, rest } = parseFlags(args, FLAGS);
    const isLong = flags.has("l") || flags.has("n");
    const people = isLong && !flags.has("n") ? await People.read(context.link) : null;
    const style: Style = { flags, people, now: Date.now() };
    const files: Item[] = [];
    const directories: Item[] = [];
    let stderr = "";
    for (const name of rest.length === 0 ? ["."] : rest) {
      try {
        const item = await itemAt(context, name, context.resolve(name));
        (item.stat.kind === "directory" && !flags.has("d") ? directories : files).push(item);
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        stderr += `ls: cannot access '${name}': ${error.code === "ENOENT" ? "No such file or directory" : "Permission denied"}\n`;
      }
    }
    const blocks = files.length > 0 ? [formatItems(sortItems(files, flags), style)] : [];
    const isTitled = rest.length > 1 || flags.has("R");
    for (const directory of sortItems(directories, flags)) {
      for await (const { name, items, error } of listDirectories(context, directory, flags)) {
        if (error !== null) stderr += `ls: cannot open directory '${name}': ${error}\n`;
        else blocks.push((isTitled ? `${name}:\n` : "") + (isLong ? `total ${items.length}\n` : "") + formatItems(items, style));
      }
    }
    return { stdout: blocks.join("\n"), stderr, exitCode: stderr === "" ? 0 : 2 };
  },
});

type Listing = { name: string; items: Item[]; error: string | null };

async function* listDirectories(context: CommandContext, { name, path, stat }: Item, flags: ReadonlySet<string>): AsyncGenerator<Listing> {
  let items: Item[];
  try {
    const names = (await context.link.list(path)).map((entry) => entry.name);
    const visible = names.filter((entry) => flags.has("a") || flags.has("A") || !entry.startsWith("."));
    items = sortItems(
      await Promise.all(visible.map((entry) => itemAt(context, entry, path === "/" ? `/${entry}` : `${path}/${entry}`, stat))),
      flags,
    );
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    yield { name, items: [], error: error.code === "ENOENT" ? "No such file or directory" : "Permission denied" };
    return;
  }
  const dots = flags.has("a")
    ? [
        { name: ".", path, stat },
        { name: "..", path, stat },
      ]
    : [];
  yield { name, items: [...dots, ...items], error: null };
  if (!flags.has("R")) return;
  for (const item of items)
    if (item.stat.kind === "directory")
      yield* listDirectories(context, { ...item, name: `${name === "/" ? "" : name}/${item.name}` }, flags);
}

/** A caller may see the name of an entry without the right to stat it; then the directory's stat fills in. */
async function itemAt({ link }: CommandContext, name: string, path: string, parent?: FileStat): Promise<Item> {
  const stat = await link.stat(path).catch((error: unknown) => {
    if (parent === undefined || !(error instanceof FileError)) throw error;
    return { ...parent, kind: "file" as const, size: 0, mode: 0 };
  });
  return { name, path, stat };
}

function sortItems(items: readonly Item[], flags: ReadonlySet<string>): Item[] {
  const byName = (a: Item, b: Item) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
  const order = flags.has("S")
    ? (a: Item, b: Item) => b.stat.size - a.stat.size || byName(a, b)
    : flags.has("t")
      ? (a: Item, b: Item) => b.stat.modifiedAt - a.stat.modifiedAt || byName(a, b)
      : byName;
  const list = items.toSorted(order);
  return flags.has("r") ? list.toReversed() : list;
}

function formatItems(items: readonly Item[], { flags, people, now }: Style): string {
  const label = ({ name, stat }: Item) => ((flags.has("F") || flags.has("p")) && stat.kind === "directory" ? `${name}/` : name);
  if (!flags.has("l") && !flags.has("n")) return items.map((item) => `${label(item)}\n`).join("");
  const rows = items.map((item) => {
    const { kind, mode, uid, gid, size, modifiedAt } = item.stat;
    const owner = people?.userName(uid) ?? String(uid);
    const group = people?.groupName(gid) ?? String(gid);
    return [
      formatMode(kind, mode),
      "1",
      owner,
      group,
      flags.has("h") ? humanSize(size) : String(size),
      formatTime(modifiedAt, now),
      label(item),
    ];
  });
  const widths = [0, 1, 2, 3, 4].map((at) => Math.max(0, ...rows.map((row) => row[at]!.length)));
  return rows
    .map(
      (row) => `${row.map((cell, at) => (at === 1 || at === 4 ? cell.padStart(widths[at]!) : cell.padEnd(widths[at] ?? 0))).join(" ")}\n`,
    )
    .join("");
}

const HALF_YEAR_MS = 182 * 24 * 60 * 60 * 1000;

function formatTime(ms: number, now: number): string {
  const date = new Date(ms);
  const month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][date.getUTCMonth()];
  const day = String(date.getUTCDate()).padStart(2);
  const isRecent = Math.abs(now - ms) < HALF_YEAR_MS;
  const padTwo = (value: number) => String(value).padStart(2, "0");
  return `${month} ${day} ${isRecent ? `${padTwo(date.getUTCHours())}:${padTwo(date.getUTCMinutes())}` : ` ${date.getUTCFullYear()}`}`;
}
