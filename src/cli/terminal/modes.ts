// What a program has switched on at a terminal: another screen, the mouse, keys that send something else. Whoever leaves it
// behind switches that back, or the terminal is of no more use.

/** The few that are on where nobody has switched anything: wrapping and the cursor. */
const ON_AT_FIRST = new Set(["7", "25"]);
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const SWITCH = /\u001b\[\?([\d;]{1,32})([hl])/g;
/** What may become one with the next piece. */
// oxlint-disable-next-line no-control-regex -- as above
const BEGINNING = /\u001b(?:\[(?:\?[\d;]{0,32})?)?$/;
/** No colours, the keypad's digits. */
const PLAIN = "\u001b[0m\u001b>";

export class Modes {
  readonly #changed = new Set<string>();
  #held = "";

  /** Sees what is shown. */
  see(text: string): void {
    const all = this.#held + text;
    this.#held = BEGINNING.exec(all)?.[0] ?? "";
    for (const [, names = "", to] of all.matchAll(SWITCH))
      for (const name of names.split(";"))
        if ((to === "h") === ON_AT_FIRST.has(name)) this.#changed.delete(name);
        else this.#changed.add(name);
  }

  /** What puts all of it back. */
  undo(): string {
    const back = [...this.#changed].map((name) => `\u001b[?${name}${ON_AT_FIRST.has(name) ? "h" : "l"}`).join("");
    this.#changed.clear();
    return back + PLAIN;
  }
}
