// The escape from a terminal that passes every key through: as in ssh, ~. at the start of a line. ~~ sends one ~.

export class Escape {
  #isLineStart = true;
  #isTildeHeld = false;

  /** The keys to pass through, and whether the user wants to leave. */
  filterKeys(keys: string): { text: string; isLeaving: boolean } {
    let text = "";
    for (const key of keys) {
      if (this.#isTildeHeld) {
        this.#isTildeHeld = false;
        if (key === ".") return { text, isLeaving: true };
        text += key === "~" ? "~" : `~${key}`;
      } else if (key === "~" && this.#isLineStart) {
        this.#isTildeHeld = true;
        continue;
      } else text += key;
      this.#isLineStart = key === "\r" || key === "\n";
    }
    return { text, isLeaving: false };
  }
}
