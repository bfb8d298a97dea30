// Completions for Tab: command names in command position, else paths of the target. Names with control characters are not
// offered, because readline writes them unescaped.

import type { Client } from "../../client/client.ts";
import { escapeControls } from "../terminal/terminal.ts";

export type CompletionSource = { client: Client; target: string; cwd: () => string };

/** In readline's format: the hits, each starting with the text that it replaces, and that text. */
export type Completion = [hits: string[], typed: string];

/** The last word as typed, with its quotes. */
const LAST_WORD = /(?:[^\s\\'"|&;<>()`]|\\.|"(?:[^"\\]|\\.)*"?|'[^']*'?)*$/s;
const COMMAND_FOLLOWS = /(?:^|[|&;(`]|(?:^|\s)(?:if|then|else|elif|while|until|do|!|time))\s*$/;

export class Completer {
  readonly #where: CompletionSource;
  #names: Promise<readonly string[]> | null = null;

  constructor(where: CompletionSource) {
    this.#where = where;
  }

  async complete(line: string): Promise<Completion> {
    const typed = LAST_WORD.exec(line)?.[0] ?? "";
    const before = line.slice(0, line.length - typed.length);
    const isCommand = COMMAND_FOLLOWS.test(before);
    if (isCommand && /^[\w.+-]*$/.test(typed)) {
      this.#names ??= this.#fetchCommandNames();
      return makeCompletion(
        (await this.#names).filter((name) => name.startsWith(typed)).map((name) => `${name} `),
        typed,
      );
    }
    return this.#completePath(typed, /(?:^|[|&;(]\s*)cd\s+$/.test(before));
  }

  async #completePath(typed: string, onlyDirectories: boolean): Promise<Completion> {
    const quote = /^["']/.exec(typed)?.[0] ?? "";
    const text = quote === "'" ? typed.slice(1) : typed.slice(quote.length).replace(/\\(.)/gs, "$1");
    const base = text.slice(text.lastIndexOf("/") + 1);
    const folder = text.slice(0, text.length - base.length);
    const { client, target, cwd } = this.#where;
    const path = /^[/~]/.test(folder) ? folder : `${cwd()}/${folder}`;
    const answer = await client.call("fs.read", { target, path, limit: 0 }).catch(() => null);
    if (answer === null || !answer.ok || !("directories" in answer)) return [[], typed];
    const isMatch = (name: string) => name.startsWith(base) && (base !== "" || !name.startsWith(".")) && escapeControls(name) === name;
    const complete = (name: string) => typed + escapeName(name.slice(base.length), quote);
    const files = onlyDirectories ? [] : answer.files.filter(isMatch).map((name) => `${complete(name)}${quote} `);
    return makeCompletion([...files, ...answer.directories.filter(isMatch).map((name) => `${complete(name)}/`)], typed);
  }

  /** Called once. A shell that does not know the first command knows the second. */
  async #fetchCommandNames(): Promise<readonly string[]> {
    const { client, target } = this.#where;
    const input = "help --names 2>/dev/null || compgen -c";
    const result = await client.call("shell.exec", { target, input, streams: true }).catch(() => null);
    if (result === null || result.status === "running") return [];
    const names = (result.stdout ?? result.output).split("\n").filter((name) => /^[\w.+-]+$/.test(name));
    return [...new Set(names)].toSorted();
  }
}

/** Only a single hit keeps the space and the closing quote after it. */
function makeCompletion(hits: readonly string[], typed: string): Completion {
  const sorted = hits.toSorted();
  return [sorted.length === 1 ? sorted : sorted.map((hit) => hit.replace(/["']? $/, "")), typed];
}

function escapeName(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/["\\$`]/g, "\\$&");
  return text.replace(/[^\p{L}\p{N}\p{M}@%+=:,./_-]/gu, "\\$&");
}
