// Text in columns, for commands that list things.

/** The first row is the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at]!)).join("  ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}
