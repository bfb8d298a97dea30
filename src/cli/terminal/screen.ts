// Writes the output of a command to the terminal. It is not trusted, like anything from a gateway, but people want its colours:
// these pass, and all other control sequences are escaped. A pipe gets the output unchanged.

import { escapeControls } from "./terminal.ts";

/** Colours, bold and the like, and nothing that moves the cursor, queries the terminal or sets its title. */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const COLOUR = /\u001b\[[0-9;:]{0,64}m/;
/** The start of a sequence that the next piece may complete. */
// oxlint-disable-next-line no-control-regex -- as above
const INCOMPLETE = /(?:\u001b(?:\[[0-9;:]{0,64})?|\r)$/;
const RESET = "\u001b[0m";

export class Screen {
  readonly #stream: NodeJS.WriteStream;
  #heldBack = "";
  #isColoured = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  /** Resolves when there is room for more. */
  write(text: string): Promise<void> | void {
    if (!this.#stream.isTTY) return new Promise((resolve) => this.#stream.write(text, () => resolve()));
    const all = this.#heldBack + text;
    this.#heldBack = INCOMPLETE.exec(all)?.[0] ?? "";
    this.#put(all.slice(0, all.length - this.#heldBack.length));
  }

  /** Writes what was held back, and resets a colour that was left on. */
  end(): void {
    this.#put(this.#heldBack);
    this.#heldBack = "";
    if (this.#isColoured) this.#stream.write(RESET);
    this.#isColoured = false;
  }

  #put(text: string): void {
    if (text === "") return;
    const shown = escapeExceptColours(text);
    this.#isColoured ||= COLOUR.test(shown);
    this.#stream.write(shown);
  }
}

/** Keeps colours and escapes the rest; a carriage return is harmless only before a line feed. */
export function escapeExceptColours(text: string): string {
  return text
    .split(new RegExp(`(${COLOUR.source})`))
    .map((part, at) => (at % 2 === 1 ? part : escapeControls(part.replaceAll("\r\n", "\n"), "\n\t")))
    .join("");
}
