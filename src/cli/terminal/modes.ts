// The modes that a program has switched on at a terminal: the alternate screen, the mouse, other key codes. They are switched
// back when the user leaves the program, or the terminal would be unusable.

/** The modes that are on by default: wrapping and the cursor. */
const ON_BY_DEFAULT = new Set(["7", "25"]);
// oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
const SWITCH = /\u001b\[\?([\d;]{1,32})([hl])/g;
/** The start of a sequence that the next piece may complete. */
// oxlint-disable-next-line no-control-regex -- as above
const INCOMPLETE = /\u001b(?:\[(?:\?[\d;]{0,32})?)?$/;
/** Resets styles, and the keypad to digits. */
const RESET = "\u001b[0m\u001b>";

export class Modes {
  readonly #changed = new Set<string>();
  #heldBack = "";

  /** Records the modes that the output switches. */
  track(text: string): void {
    const all = this.#heldBack + text;
    this.#heldBack = INCOMPLETE.exec(all)?.[0] ?? "";
    for (const [, names = "", to] of all.matchAll(SWITCH))
      for (const name of names.split(";"))
        if ((to === "h") === ON_BY_DEFAULT.has(name)) this.#changed.delete(name);
        else this.#changed.add(name);
  }

  /** Returns the sequences that restore all modes. */
  takeResetSequence(): string {
    const back = [...this.#changed].map((name) => `\u001b[?${name}${ON_BY_DEFAULT.has(name) ? "h" : "l"}`).join("");
    this.#changed.clear();
    return back + RESET;
  }
}
