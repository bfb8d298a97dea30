// The state that lasts from one line of `gsv shell` to the next. Each line runs in its own shell, so a script before the line
// restores what a person expects to stay (directory, variables, last status), and a script after it reports them: at the end of
// standard error, after an unguessable mark. The report is removed before anything is shown.

import { shellQuote } from "../../lib/quote.ts";

/** Separates the parts of a report; `declare -p` never prints it unquoted. */
const PART = "\u001e";
/** Variables are not sent with every line if they are larger than this. */
const VARIABLES_CHARS_MAX = 64 * 1024;
/** Variables that each shell sets for itself. */
const OWN =
  /^(_|PWD|OLDPWD|PIPESTATUS|S?RANDOM|SECONDS|LINENO|EPOCH\w*|BASH\w*|PPID|SHLVL|COMP_\w*|FUNCNAME|DIRSTACK|GROUPS|HISTCMD|OPT\w*|REPLY)$/;

export class ShellState {
  cwd: string;
  home: string;
  username: string;
  isRoot = false;
  status = 0;
  #previousCwd = "";
  /** By name, as the shell's own declarations. */
  #variables = new Map<string, string>();
  /** The variables of a fresh shell. */
  #initial: ReadonlyMap<string, string> | null = null;

  constructor({ home, username }: { home: string; username: string }) {
    this.cwd = home;
    this.home = home;
    this.username = username;
  }

  /** Restores the state on the same line, so that the line numbers in error messages are right. */
  makeScript(line: string, mark: string): string {
    const back = this.#previousCwd === "" ? [] : [`cd ${shellQuote(this.#previousCwd)} >/dev/null 2>&1`, `cd ${shellQuote(this.cwd)}`];
    const before = [...this.#variables.values(), ...back, `(exit ${this.status})`].join("; ");
    const parts = ['"$?"', '"$PWD"', '"${OLDPWD-}"', '"$HOME"', '"${USER-}"', '"$UID"'];
    const report = `{ printf '${mark}${`%s${PART}`.repeat(parts.length)}' ${parts.join(" ")}; declare -p; printf '${PART}'; } >&2`;
    return `${before}; ${line}\n${report}`;
  }

  /** Returns false if the variables are too large to keep. */
  applyReport(report: string): boolean {
    const [status, cwd, before, home, username, uid, declared, rest] = report.split(PART);
    if (declared === undefined || rest === undefined) return true;
    this.status = Number(status);
    this.cwd = cwd || this.cwd;
    this.#previousCwd = before ?? "";
    this.home = home || this.home;
    this.username = username || this.username;
    this.isRoot = uid === "0";
    const variables = parseDeclarations(declared);
    this.#initial ??= variables;
    const changes = new Map([...variables].filter(([name, text]) => this.#initial?.get(name) !== text));
    if ([...changes.values()].join("").length > VARIABLES_CHARS_MAX) return false;
    this.#variables = changes;
    return true;
  }

  /** For when the working directory no longer exists. */
  goHome(): void {
    this.cwd = this.home;
    this.#previousCwd = "";
  }
}

/** Extracts the report from standard error, however the output is split. */
export class ReportExtractor {
  readonly mark = `${PART}${crypto.randomUUID()}${PART}`;
  #heldBack = "";
  text: string | null = null;

  /** Returns the text to show. */
  filterText(text: string): string {
    if (this.text !== null) {
      this.text += text;
      return "";
    }
    const all = this.#heldBack + text;
    const at = all.indexOf(this.mark);
    if (at !== -1) {
      this.text = all.slice(at + this.mark.length);
      return all.slice(0, at);
    }
    let heldLength = Math.min(all.length, this.mark.length - 1);
    while (heldLength > 0 && !this.mark.startsWith(all.slice(all.length - heldLength))) heldLength--;
    this.#heldBack = all.slice(all.length - heldLength);
    return all.slice(0, all.length - heldLength);
  }

  /** The text that was held back and turned out not to start a report. */
  heldBackText(): string {
    return this.text === null ? this.#heldBack : "";
  }
}

/** Parses the output of `declare -p`. A value may have several lines. */
function parseDeclarations(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let name: string | null = null;
  for (const line of text.split("\n")) {
    const start = /^declare -\S+ ([^=\s]+)(?:=|$)/.exec(line);
    if (start !== null) name = start[1] ?? null;
    if (name === null || !/^[A-Za-z_]\w*$/.test(name) || OWN.test(name) || line === "") continue;
    found.set(name, start === null ? `${found.get(name)}\n${line}` : line);
  }
  return found;
}
