// touch: just-bash's own. Times that it cannot parse, such as @seconds and now, are converted first.

import { defineCommandFile } from "../command.ts";

export default defineCommandFile({
  name: "touch",
  usage: "[-c] [-d time | -t [[CC]YY]MMDDhhmm[.ss] | -r path] path...",
  doc: "Create empty files, or set modification times. -c creates no file, -d takes a date or @seconds, -r takes the time of another file.",
  async run({ builtin, link, resolve }, args) {
    const builtinArgs: string[] = [];
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      const inline = /^--date=(.*)$/.exec(arg)?.[1];
      if (arg === "-d" || arg === "--date" || inline !== undefined) builtinArgs.push("-d", toIsoDate(inline ?? args[++at] ?? ""));
      else if (arg === "-r") builtinArgs.push("-d", new Date((await link.stat(resolve(args[++at] ?? ""))).modifiedAt).toISOString());
      else if (arg === "-t") builtinArgs.push("-d", stampToIsoDate(args[++at] ?? ""));
      else builtinArgs.push(arg);
    }
    return builtin(builtinArgs);
  },
});

function toIsoDate(text: string): string {
  if (text === "now") return new Date().toISOString();
  const seconds = /^@(-?\d+(?:\.\d+)?)$/.exec(text)?.[1];
  return seconds === undefined ? text : new Date(Number(seconds) * 1000).toISOString();
}

function stampToIsoDate(text: string): string {
  const [, year, month, day, hour, minute, second = "00"] = /^(\d{2}|\d{4})?(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d\d))?$/.exec(text) ?? [];
  const century = year?.length === 2 ? (Number(year) < 69 ? "20" : "19") : "";
  const full = year === undefined ? String(new Date().getUTCFullYear()) : century + year;
  return month === undefined ? text : `${full}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
