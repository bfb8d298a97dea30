// Output of commands that list things: text in columns, or JSON.

/** The first row is the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** With tabs between the columns. The texts may be of others. A cell without text is `-`. */
export function formatTabs(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map((cell) => toLine(cell) || "-").join("\t")}\n`).join("");
}

/** One line without anything that could end its cell. */
export function toLine(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}\s]+/gu, " ").trim();
}

/** For --json. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
