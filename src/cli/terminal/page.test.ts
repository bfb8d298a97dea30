import { expect, test } from "vitest";
import { type Footer, Page, wrapInput } from "./page.ts";

/** A minimal terminal that implements only what Page uses. */
class Grid {
  readonly lines: string[][] = [[]];
  row = 0;
  column = 0;
  readonly columns: number;
  readonly rows = 24;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): boolean {
    // oxlint-disable-next-line no-control-regex -- escape sequences are what this is about
    for (const [part, number, letter] of text.matchAll(/\u001b\[\??(\d*)([A-Za-z])|[^]/g)) {
      const count = Number(number || 1);
      if (letter === "A") this.row -= count;
      else if (letter === "G") this.column = count - 1;
      else if (letter === "J") {
        this.lines.splice(this.row + 1);
        this.#line().splice(this.column);
      } else if (part === "\r") this.column = 0;
      else if (part === "\n") [this.row, this.column] = [this.row + 1, 0];
      else if (letter === undefined) this.#put(part);
    }
    return true;
  }

  get text(): string {
    return this.lines.map((line) => Array.from(line, (character) => character ?? " ").join("")).join("\n");
  }

  #put(character: string): void {
    if (this.column === this.columns) [this.row, this.column] = [this.row + 1, 0];
    this.#line()[this.column++] = character;
  }

  #line(): string[] {
    while (this.lines.length <= this.row) this.lines.push([]);
    return this.lines[this.row]!;
  }
}

test("text continues above the footer, wherever its line stopped", () => {
  const grid = new Grid(20);
  let foot: Footer | null = wrapInput("> ", "hi", "", 10);
  const page = new Page(grid, () => foot);
  page.write("abc");
  expect(grid.text).toBe("abc\n> hi");
  page.write("def");
  page.write("\nnext");
  expect(grid.text).toBe("abcdef\nnext\n> hi");
  foot = wrapInput("> ", "hi there you", "", 10);
  page.redraw();
  expect(grid.text).toBe("abcdef\nnext\n> hi ther\n  e you");
  foot = wrapInput("> ", "hi", "", 10);
  page.redraw();
  expect([grid.text, grid.row, grid.column]).toEqual(["abcdef\nnext\n> hi", 2, 4]);
  foot = null;
  page.write("!");
  expect(grid.text.trimEnd()).toBe("abcdef\nnext!");
  page.end();
  expect([grid.row, grid.column]).toEqual([2, 0]);
});

test("the cursor may be anywhere in the footer, and text may fill the last column", () => {
  const grid = new Grid(20);
  const page = new Page(grid, () => wrapInput("> ", "ab", "c\nd", 20));
  for (let at = 0; at < 70; at++) page.write(String(at % 10));
  const digits = Array.from({ length: 70 }, (_, at) => String(at % 10)).join("");
  expect(grid.text.split("\n").slice(0, 4).join("")).toBe(digits);
  expect(grid.text.split("\n").slice(4)).toEqual(["> abc", "  d"]);
  expect([grid.row, grid.column]).toEqual([4, 4]);
});
