// What Tab offers: commands where a command stands, else paths of the target. Names that a terminal could obey are not
// offered, because readline writes them as they are.

import type { Client } from "../../client/client.ts";
import { printable } from "../terminal/terminal.ts";

export type Where = { client: Client; target: string; cwd: () => string };

/** Hits, each of them beginning with the text that they are to replace; as readline wants it. */
export type Completion = [hits: string[], typed: string];

/** The last word as it is typed, quotes and all. */
const LAST_WORD = /(?:[^\s\\'"|&;<>()`]|\\.|"(?:[^"\\]|\\.)*"?|'[^']*'?)*$/s;
const COMMAND_FOLLOWS = /(?:^|[|&;(`]|(?:^|\s)(?:if|then|else|elif|while|until|do|!|time))\s*$/;

export class Completer {
  readonly #where: Where;
  #names: Promise<readonly string[]> | null = null;

  constructor(where: Where) {
    this.#where = where;
  }

  async complete(line: string): Promise<Completion> {
    const typed = LAST_WORD.exec(line)?.[0] ?? "";
    const before = line.slice(0, line.length - typed.length);
    const isCommand = COMMAND_FOLLOWS.test(before);
    if (isCommand && /^[\w.+-]*$/.test(typed)) {
      this.#names ??= this.#allNames();
      return offered(
        (await this.#names).filter((name) => name.startsWith(typed)).map((name) => `${name} `),
        typed,
      );
    }
    return this.#paths(typed, /(?:^|[|&;(]\s*)cd\s+$/.test(before));
  }

  async #paths(typed: string, onlyDirectories: boolean): Promise<Completion> {
    const quote = /^["']/.exec(typed)?.[0] ?? "";
    const text = quote === "'" ? typed.slice(1) : typed.slice(quote.length).replace(/\\(.)/gs, "$1");
    const base = text.slice(text.lastIndexOf("/") + 1);
    const folder = text.slice(0, text.length - base.length);
    const { client, target, cwd } = this.#where;
    const path = /^[/~]/.test(folder) ? folder : `${cwd()}/${folder}`;
    const answer = await client.call("fs.read", { target, path, limit: 0 }).catch(() => null);
    if (answer === null || !answer.ok || !("directories" in answer)) return [[], typed];
    const fits = (name: string) => name.startsWith(base) && (base !== "" || !name.startsWith(".")) && printable(name) === name;
    const rest = (name: string) => typed + escaped(name.slice(base.length), quote);
    const files = onlyDirectories ? [] : answer.files.filter(fits).map((name) => `${rest(name)}${quote} `);
    return offered([...files, ...answer.directories.filter(fits).map((name) => `${rest(name)}/`)], typed);
  }

  /** Asked once. A shell that does not know the first way knows the second. */
  async #allNames(): Promise<readonly string[]> {
    const { client, target } = this.#where;
    const input = "help --names 2>/dev/null || compgen -c";
    const result = await client.call("shell.exec", { target, input, streams: true }).catch(() => null);
    if (result === null || result.status === "running") return [];
    const names = (result.stdout ?? result.output).split("\n").filter((name) => /^[\w.+-]+$/.test(name));
    return [...new Set(names)].toSorted();
  }
}

/** The space that follows a word follows only where there is no choice. */
function offered(hits: readonly string[], typed: string): Completion {
  const sorted = hits.toSorted();
  return [sorted.length === 1 ? sorted : sorted.map((hit) => hit.replace(/["']? $/, "")), typed];
}

function escaped(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, "\\$&");
  return text.replace(/[^\p{L}\p{N}\p{M}@%+=:,./_-]/gu, "\\$&");
}
