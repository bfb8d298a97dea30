// Lines typed at a terminal, with editing, history and completion by Node's readline. Ctrl-C and Ctrl-D are events like a
// line is; since readline ends with them, another takes its place. Lines that nobody waits for are kept until somebody does.
// A target cannot switch the echo off, so it is switched off here where a command asks for a password.

import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Completion } from "../shell/complete.ts";
import { addToHistory, HISTORY_LINES, isKept, readHistory } from "../shell/history.ts";

export type Typed = { kind: "line"; text: string } | { kind: "interrupt" } | { kind: "end" };

const SECRET = /\bpass(?:word|phrase|code)\b[^\n]*[:?]\s*$/i;

type KeyboardOptions = { historyFile: string; complete: (line: string) => Promise<Completion> };

export class Keyboard {
  readonly #options: KeyboardOptions;
  #history: string[];
  #reader: Interface | null = null;
  readonly #output = this.#echo();
  #prompt = "";
  #typed: Typed[] = [];
  #waiting: ((typed: Typed) => void) | null = null;
  /** Set while a command runs: what is typed is its input and no line of a shell. */
  onTyped: ((typed: Typed) => void) | null = null;

  constructor(options: KeyboardOptions) {
    this.#options = options;
    this.#history = readHistory(options.historyFile);
    this.#open();
  }

  /** Shows the prompt and waits. A line typed ahead is shown behind it. */
  async ask(prompt: string): Promise<Typed> {
    this.#prompt = prompt;
    const ahead = this.#typed.shift();
    if (ahead !== undefined) {
      process.stdout.write(`${prompt}${ahead.kind === "line" ? ahead.text : ""}\n`);
      return ahead;
    }
    this.#reader?.setPrompt(prompt);
    this.#reader?.prompt();
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  /** What stands before the cursor, for when the line is drawn again. */
  standsBehind(text: string): void {
    this.#prompt = text;
    this.#reader?.setPrompt(text);
  }

  /** Something is said while somebody may be typing: their line is drawn again below it. */
  interject(say: () => void): void {
    if (this.#waiting === null) return say();
    process.stdout.write("\r\u001b[K");
    say();
    this.#reader?.prompt(true);
  }

  /** Back into the queue: nobody read it. */
  putBack(typed: readonly Typed[]): void {
    this.#typed.unshift(...typed);
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
    reader.on("history", (history) => this.#remember(history));
    reader.on("line", (text) => {
      if (this.#isSecret()) process.stdout.write("\n");
      this.#take({ kind: "line", text });
    });
    reader.on("SIGINT", () => {
      process.stdout.write("^C\n");
      this.#reopen({ kind: "interrupt" });
    });
    reader.on("close", () => {
      if (this.#reader === reader) this.#reopen({ kind: "end" });
    });
  }

  #echo(): Writable {
    const output = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        if (!this.#isSecret()) process.stdout.write(text);
        done();
      },
    });
    // What readline asks of a terminal.
    Object.defineProperty(output, "columns", { get: () => process.stdout.columns });
    process.stdout.on("resize", () => output.emit("resize"));
    return output;
  }

  #isSecret(): boolean {
    return this.onTyped !== null && SECRET.test(this.#prompt);
  }

  /** The line that was being typed goes with the old one. */
  #reopen(typed: Typed): void {
    this.close();
    this.#open();
    this.#take(typed);
  }

  #take(typed: Typed): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) waiting(typed);
    else if (this.onTyped !== null) this.onTyped(typed);
    else this.#typed.push(typed);
  }

  /** What is typed to a command may be a password. */
  #remember(history: string[]): void {
    const [line = ""] = history;
    if (this.onTyped !== null || !isKept(line)) return void history.splice(0, history.length, ...this.#history);
    if (line !== this.#history[0]) addToHistory(this.#options.historyFile, line);
    this.#history = [...history];
  }
}
