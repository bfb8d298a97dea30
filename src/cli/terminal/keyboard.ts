// Reads lines at a terminal, with editing, history and completion by Node's readline. Ctrl-C and Ctrl-D are events like a line;
// readline closes on them, so a new one replaces it. Lines that nobody waits for are queued. A target cannot turn the echo off,
// so it is turned off here when a command asks for a password.

import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Completion } from "../shell/complete.ts";
import { addToHistory, HISTORY_LINES, belongsInHistory, readHistory } from "../shell/history.ts";

export type KeyboardInput = { kind: "line"; text: string } | { kind: "interrupt" } | { kind: "end" };

const SECRET = /\bpass(?:word|phrase|code)\b[^\n]*[:?]\s*$/i;

type KeyboardOptions = { historyFile: string; complete: (line: string) => Promise<Completion> };

export class Keyboard {
  readonly #options: KeyboardOptions;
  #history: string[];
  #reader: Interface | null = null;
  readonly #output = this.#createOutput();
  #prompt = "";
  #queue: KeyboardInput[] = [];
  #waiting: ((typed: KeyboardInput) => void) | null = null;
  /** Set while a command runs: typed lines are its input and not lines of the shell. */
  onTyped: ((typed: KeyboardInput) => void) | null = null;

  constructor(options: KeyboardOptions) {
    this.#options = options;
    this.#history = readHistory(options.historyFile);
    this.#open();
  }

  /** Shows the prompt and waits for a line. A line typed ahead is shown after the prompt and returned at once. */
  async ask(prompt: string): Promise<KeyboardInput> {
    this.#prompt = prompt;
    const ahead = this.#queue.shift();
    if (ahead !== undefined) {
      process.stdout.write(`${prompt}${ahead.kind === "line" ? ahead.text : ""}\n`);
      return ahead;
    }
    this.#reader?.setPrompt(prompt);
    this.#reader?.prompt();
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  /** Sets the text before the cursor, for when the line is redrawn. */
  setTextBeforeCursor(text: string): void {
    this.#prompt = text;
    this.#reader?.setPrompt(text);
  }

  /** Prints something while the user may be typing, and redraws their line below it. */
  printAbove(print: () => void): void {
    if (this.#waiting === null) return print();
    process.stdout.write("\r\u001b[K");
    print();
    this.#reader?.prompt(true);
  }

  /** Puts unread input back into the queue. */
  putBack(typed: readonly KeyboardInput[]): void {
    this.#queue.unshift(...typed);
  }

  close(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.close();
  }

  #open(): void {
    const reader = createInterface({
      input: process.stdin,
      output: this.#output,
      terminal: true,
      prompt: this.#prompt,
      history: [...this.#history],
      historySize: HISTORY_LINES,
      completer: (line: string, done: (error: null, completion: Completion) => void) => {
        if (this.onTyped !== null) return done(null, [[], line]);
        this.#options.complete(line).then(
          (completion) => done(null, completion),
          () => done(null, [[], line]),
        );
      },
    });
    this.#reader = reader;
    reader.on("history", (history) => this.#saveHistory(history));
    reader.on("line", (text) => {
      if (this.#isSecret()) process.stdout.write("\n");
      this.#deliver({ kind: "line", text });
    });
    reader.on("SIGINT", () => {
      process.stdout.write("^C\n");
      this.#reopen({ kind: "interrupt" });
    });
    reader.on("close", () => {
      if (this.#reader === reader) this.#reopen({ kind: "end" });
    });
  }

  #createOutput(): Writable {
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        if (!this.#isSecret()) process.stdout.write(text);
        done();
      },
    });
    // What readline needs of a terminal.
    Object.defineProperty(output, "columns", { get: () => process.stdout.columns });
    process.stdout.on("resize", () => output.emit("resize"));
    return output;
  }

  #isSecret(): boolean {
    return this.onTyped !== null && SECRET.test(this.#prompt);
  }

  /** Discards the line that was being typed, with the old reader. */
  #reopen(typed: KeyboardInput): void {
    this.close();
    this.#open();
    this.#deliver(typed);
  }

  #deliver(typed: KeyboardInput): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) waiting(typed);
    else if (this.onTyped !== null) this.onTyped(typed);
    else this.#queue.push(typed);
  }

  /** Input of a command is not stored: it may be a password. */
  #saveHistory(history: string[]): void {
    const [line = ""] = history;
    if (this.onTyped !== null || !belongsInHistory(line)) return void history.splice(0, history.length, ...this.#history);
    if (line !== this.#history[0]) addToHistory(this.#options.historyFile, line);
    this.#history = [...history];
  }
}
