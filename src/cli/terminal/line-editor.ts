// An editor for one input: keys in, text and cursor out. It does not know the terminal, so that it can be drawn below other
// output. Alt-Enter or pasting makes several lines.

export type Key = { text?: string | undefined; name?: string | undefined; ctrl?: boolean; meta?: boolean };

/** The effect of a key: the input is submitted, was edited, or is unchanged. */
export type EditResult = "submit" | "edited" | "ignored";

// oxlint-disable-next-line no-control-regex -- controls are what this is about
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const segmenter = new Intl.Segmenter();

export class LineEditor {
  #before: string[] = [];
  #after: string[] = [];
  #isPasting = false;
  /** Newest first; index -1 is the line being typed. */
  #history: readonly string[];
  #historyIndex = -1;
  #draft = "";

  constructor(history: readonly string[] = []) {
    this.#history = history;
  }

  get text(): string {
    return this.#before.join("") + this.#after.join("");
  }

  /** The text before the cursor. */
  get textBeforeCursor(): string {
    return this.#before.join("");
  }

  get isEmpty(): boolean {
    return this.#before.length + this.#after.length === 0;
  }

  /** Returns the text and clears the editor. */
  takeText(): string {
    const { text } = this;
    if (text.trim() !== "" && text !== this.#history[0]) this.#history = [text, ...this.#history];
    this.setText("");
    this.#historyIndex = -1;
    return text;
  }

  setText(text: string): void {
    this.#before = graphemes(text);
    this.#after = [];
  }

  press({ text = "", name = "", ctrl = false, meta = false }: Key): EditResult {
    if (name === "paste-start" || name === "paste-end") {
      this.#isPasting = name === "paste-start";
      return "ignored";
    }
    if (this.#isPasting) return this.#insert(name === "return" || name === "enter" ? "\n" : text);
    if (name === "return" && !meta) return "submit";
    if (name === "return" || name === "enter") return this.#insert("\n");
    if (ctrl) return this.#handleControlKey(name);
    if (meta) return this.#handleWordKey(name);
    switch (name) {
      case "backspace":
        this.#before.pop();
        return "edited";
      case "delete":
        this.#after.shift();
        return "edited";
      case "left":
        return this.#move(1);
      case "right":
        return this.#move(-1);
      case "home":
        return this.#move(this.#before.length);
      case "end":
        return this.#move(-this.#after.length);
      case "up":
        return this.#recall(this.#historyIndex + 1);
      case "down":
        return this.#recall(this.#historyIndex - 1);
      default:
        return this.#insert(text);
    }
  }

  #handleControlKey(name: string): EditResult {
    switch (name) {
      case "a":
        return this.#move(this.#before.length);
      case "e":
        return this.#move(-this.#after.length);
      case "b":
        return this.#move(1);
      case "f":
        return this.#move(-1);
      case "h":
        this.#before.pop();
        return "edited";
      case "d":
        this.#after.shift();
        return "edited";
      case "k":
        this.#after = [];
        return "edited";
      case "u":
        this.#before = [];
        return "edited";
      case "w":
        this.#before.splice(this.#wordStart());
        return "edited";
      case "p":
        return this.#recall(this.#historyIndex + 1);
      case "n":
        return this.#recall(this.#historyIndex - 1);
      case "left":
        return this.#handleWordKey("b");
      case "right":
        return this.#handleWordKey("f");
      default:
        return "ignored";
    }
  }

  #handleWordKey(name: string): EditResult {
    if (name === "b" || name === "left") return this.#move(this.#before.length - this.#wordStart());
    if (name === "f" || name === "right") {
      const word = /^\s*\S+/.exec(this.#after.join(""))?.[0] ?? "";
      return this.#move(-graphemes(word).length);
    }
    if (name !== "backspace") return "ignored";
    this.#before.splice(this.#wordStart());
    return "edited";
  }

  #wordStart(): number {
    const kept = this.#before.join("").replace(/\S*\s*$/, "");
    return graphemes(kept).length;
  }

  /** Moves left for a positive number. */
  #move(by: number): EditResult {
    if (by > 0) this.#after.unshift(...this.#before.splice(Math.max(0, this.#before.length - by)));
    else this.#before.push(...this.#after.splice(0, -by));
    return "edited";
  }

  #insert(text: string): EditResult {
    // Control characters are dropped.
    const plain = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").replace(CONTROLS, "");
    if (plain === "") return "ignored";
    // New text may combine with the text before it into one grapheme.
    this.#before = graphemes(this.#before.join("") + plain);
    return "edited";
  }

  #recall(at: number): EditResult {
    if (at < -1 || at >= this.#history.length) return "ignored";
    if (this.#historyIndex === -1) this.#draft = this.text;
    this.#historyIndex = at;
    this.setText(at === -1 ? this.#draft : this.#history[at]!);
    return "edited";
  }
}

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}
