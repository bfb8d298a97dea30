// date: just-bash's own, plus -I, -r and relative dates such as yesterday, 2 days ago, 2024-01-31 +1 month.

import { defineCommandFile, CommandError } from "../command.ts";

const UNITS_MS: Readonly<Record<string, number>> = {
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  fortnight: 14 * 86_400_000,
};
const ISO: Readonly<Record<string, string>> = {
  "": "%Y-%m-%d",
  date: "%Y-%m-%d",
  hours: "%Y-%m-%dT%H+00:00",
  minutes: "%Y-%m-%dT%H:%M+00:00",
  seconds: "%Y-%m-%dT%H:%M:%S+00:00",
};

export default defineCommandFile({
  name: "date",
  usage: "[-u] [-d text | -r path] [-I[date|minutes|seconds]] [+FORMAT]",
  doc: "Print the time, always in UTC. -d prints another time: a date, @seconds, or words such as yesterday, 2 days ago, 2024-01-31 +1 month; -r prints when a file was changed; -I uses ISO 8601.",
  async run({ builtin, link, resolve }, args) {
    const builtinArgs: string[] = [];
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      const inline = /^--date=([\s\S]*)$/.exec(arg)?.[1] ?? /^-d([\s\S]+)$/.exec(arg)?.[1];
      const iso = /^(?:-I|--iso-8601=?)(.*)$/.exec(arg)?.[1];
      if (arg === "-d" || arg === "--date" || arg === "-ud" || inline !== undefined)
        builtinArgs.push("-d", resolveRelativeDate(inline ?? args[++at] ?? ""));
      else if (arg === "-r" || arg === "--reference")
        builtinArgs.push("-d", formatSeconds((await link.stat(resolve(args[++at] ?? ""))).modifiedAt));
      else if (iso !== undefined) builtinArgs.push(`+${ISO[iso] ?? failInvalid(iso)}`);
      else builtinArgs.push(arg);
    }
    return builtin(builtinArgs);
  },
});

function resolveRelativeDate(text: string): string {
  const words = /(?:^|\s)(?:(now|today|yesterday|tomorrow)|([+-]?\s*\d+|next|last)\s*([a-z]+?)s?(\s+ago)?)(?=\s|$)/gi;
  const base = text.replace(words, (match, name: string | undefined, _count, unit: string | undefined) =>
    name !== undefined || isUnit(unit ?? "") ? " " : match,
  );
  const isRelative = base !== text;
  if (!isRelative) return text;
  const start = base.trim() === "" ? Date.now() : Date.parse(addUtcZone(base.trim()));
  if (Number.isNaN(start)) return text;
  let date = new Date(start);
  for (const [, name, count = "", unit = "", ago] of text.matchAll(words)) {
    const days = { yesterday: -1, tomorrow: 1 }[name?.toLowerCase() ?? ""] ?? 0;
    const number = /next/i.test(count) ? 1 : /last/i.test(count) ? -1 : Number(count.replace(/\s/g, "") || 0);
    if (name !== undefined) date = addUnits(date, days, "day");
    else if (isUnit(unit)) date = addUnits(date, ago === undefined ? number : -number, unit.toLowerCase());
  }
  return formatSeconds(date.getTime());
}

function isUnit(unit: string): boolean {
  return Object.hasOwn(UNITS_MS, unit.toLowerCase()) || /^(?:month|year)$/i.test(unit);
}

function addUnits(date: Date, count: number, unit: string): Date {
  if (unit !== "month" && unit !== "year") return new Date(date.getTime() + count * UNITS_MS[unit]!);
  const next = new Date(date);
  if (unit === "month") next.setUTCMonth(next.getUTCMonth() + count);
  else next.setUTCFullYear(next.getUTCFullYear() + count);
  return next;
}

function addUtcZone(text: string): string {
  if (/^@-?\d+$/.test(text)) return new Date(Number(text.slice(1)) * 1000).toISOString();
  const iso = text.replace(/^(\d{4}-\d\d-\d\d)[ T]?/, "$1T").replace(/T$/, "T00:00");
  return /(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$/.test(iso) || !/^\d{4}-/.test(iso) ? text : `${iso}Z`;
}

function formatSeconds(ms: number): string {
  return `@${Math.floor(ms / 1000)}`;
}

function failInvalid(text: string): never {
  throw new CommandError(`invalid argument '${text}' for '--iso-8601'`);
}
