// What lasts from one line of `gsv shell` to the next. Each line runs in a shell of its own, so what a person expects to
// stay (the directory, variables, the last status) is put before the line, and asked for behind it: a report at the end
// of standard error, behind a mark nobody can guess, which is taken out before anything is shown.

import { quoted } from "../../lib/quote.ts";

/** Between the parts of a report; no name or value of a shell's own report holds it unquoted. */
const PART = "\u001e";
/** More than this is not sent along with every line. */
const VARIABLES_CHARS_MAX = 64 * 1024;
/** The shell's own, different in each shell. */
const OWN =
  /^(_|PWD|OLDPWD|PIPESTATUS|S?RANDOM|SECONDS|LINENO|EPOCH\w*|BASH\w*|PPID|SHLVL|COMP_\w*|FUNCNAME|DIRSTACK|GROUPS|HISTCMD|OPT\w*|REPLY)$/;

export class ShellState {
  cwd: string;
  home: string;
  username: string;
  isRoot = false;
  status = 0;
  #before = "";
  /** By name, as the shell itself declares them. */
  #variables = new Map<string, string>();
  /** Those of a shell in which nothing has been done yet. */
  #initial: ReadonlyMap<string, string> | null = null;

  constructor({ home, username }: { home: string; username: string }) {
    this.cwd = home;
    this.home = home;
    this.username = username;
  }

  /** All on the line's own line, so that the line numbers of error messages are right. */
  script(line: string, mark: string): string {
    const back = this.#before === "" ? [] : [`cd ${quoted(this.#before)} >/dev/null 2>&1`, `cd ${quoted(this.cwd)}`];
    const before = [...this.#variables.values(), ...back, `(exit ${this.status})`].join("; ");
    const parts = ['"$?"', '"$PWD"', '"${OLDPWD-}"', '"$HOME"', '"${USER-}"', '"$UID"'];
    const report = `{ printf '${mark}${`%s${PART}`.repeat(parts.length)}' ${parts.join(" ")}; declare -p; printf '${PART}'; } >&2`;
    return `${before}; ${line}\n${report}`;
  }

  /** False where there is more to keep than can be kept. */
  learn(report: string): boolean {
    const [status, cwd, before, home, username, uid, declared, rest] = report.split(PART);
    if (declared === undefined || rest === undefined) return true;
    this.status = Number(status);
    this.cwd = cwd || this.cwd;
    this.#before = before ?? "";
    this.home = home || this.home;
    this.username = username || this.username;
    this.isRoot = uid === "0";
    const variables = declarations(declared);
    this.#initial ??= variables;
    const changed = new Map([...variables].filter(([name, text]) => this.#initial?.get(name) !== text));
    if ([...changed.values()].join("").length > VARIABLES_CHARS_MAX) return false;
    this.#variables = changed;
    return true;
  }

  /** The directory is gone. */
  goHome(): void {
    this.cwd = this.home;
    this.#before = "";
  }
}

/** Takes the report out of what is written to standard error, however it is cut into pieces. */
export class Report {
  readonly mark = `${PART}${crypto.randomUUID()}${PART}`;
  #held = "";
  text: string | null = null;

  /** What is to be shown. */
  without(text: string): string {
    if (this.text !== null) {
      this.text += text;
      return "";
    }
    const all = this.#held + text;
    const at = all.indexOf(this.mark);
    if (at !== -1) {
      this.text = all.slice(at + this.mark.length);
      return all.slice(0, at);
    }
    let keep = Math.min(all.length, this.mark.length - 1);
    while (keep > 0 && !this.mark.startsWith(all.slice(all.length - keep))) keep--;
    this.#held = all.slice(all.length - keep);
    return all.slice(0, all.length - keep);
  }

  /** What was held back and turned out not to be the beginning of a report. */
  rest(): string {
    return this.text === null ? this.#held : "";
  }
}

/** The output of `declare -p`. A value may have several lines. */
function declarations(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let name: string | null = null;
  for (const line of text.split("\n")) {
    const begins = /^declare -\S+ ([^=\s]+)(?:=|$)/.exec(line);
    if (begins !== null) name = begins[1] ?? null;
    if (name === null || !/^[A-Za-z_]\w*$/.test(name) || OWN.test(name) || line === "") continue;
    found.set(name, begins === null ? `${found.get(name)}\n${line}` : line);
  }
  return found;
}
