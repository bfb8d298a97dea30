// What a command puts out, on its way to the terminal. It is as little trusted as anything from a gateway, but a person
// wants its colours: these pass, and whatever else a terminal could obey is shown instead. A pipe gets it as it is.

import { printable } from "./terminal.ts";

/** Colours, bold and the like, and nothing that moves the cursor, asks the terminal or names it. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const COLOUR = /\u001b\[[0-9;:]{0,64}m/;
/** What may become one with the next piece. */
// oxlint-disable-next-line no-control-regex -- as above
const BEGINNING = /(?:\u001b(?:\[[0-9;:]{0,64})?|\r)$/;
const PLAIN = "\u001b[0m";

export class Screen {
  readonly #stream: NodeJS.WriteStream;
  #held = "";
  #isColoured = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Resolves when there is room for more. */
  write(text: string): Promise<void> | void {
    if (!this.#stream.isTTY) return new Promise((resolve) => this.#stream.write(text, () => resolve()));
    const all = this.#held + text;
    this.#held = BEGINNING.exec(all)?.[0] ?? "";
    this.#put(all.slice(0, all.length - this.#held.length));
  }

  /** No more comes: what was held back is shown, and a colour left on does not run into what follows. */
  end(): void {
    this.#put(this.#held);
    this.#held = "";
    if (this.#isColoured) this.#stream.write(PLAIN);
    this.#isColoured = false;
  }

  #put(text: string): void {
    if (text === "") return;
    const shown = safe(text);
    this.#isColoured ||= COLOUR.test(shown);
    this.#stream.write(shown);
  }
}

/** With colours; a carriage return is harmless only before the end of a line. */
export function safe(text: string): string {
  return text
    .split(new RegExp(`(${COLOUR.source})`))
    .map((part, at) => (at % 2 === 1 ? part : printable(part.replaceAll("\r\n", "\n"), "\n\t")))
    .join("");
}
