// The way out of a terminal that passes every key on: as in ssh, ~. at the beginning of a line. ~~ is one ~.

export class Escape {
  #isLineStart = true;
  #isHeld = false;

  /** What is to be passed on, and whether somebody wants to leave. */
  pass(typed: string): { text: string; isLeaving: boolean } {
    let text = "";
    for (const key of typed) {
      if (this.#isHeld) {
        this.#isHeld = false;
        if (key === ".") return { text, isLeaving: true };
        text += key === "~" ? "~" : `~${key}`;
      } else if (key === "~" && this.#isLineStart) {
        this.#isHeld = true;
        continue;
      } else text += key;
      this.#isLineStart = key === "\r" || key === "\n";
    }
    return { text, isLeaving: false };
  }
}
