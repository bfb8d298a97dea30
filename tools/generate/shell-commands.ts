// The names and summaries of our shell commands, for /usr/bin on the gateway. The kernel cannot read them from the command files:
// those load the shell's interpreter, which takes megabytes and runs in another thread.

import { shellCommands } from "../../src/shell/commands.table.ts";
import { summaryOf } from "../../src/shell/manual.ts";

export function shellCommandsModule(): string {
  const rows = shellCommands.map((file) => `  ${JSON.stringify(file.name)}: ${JSON.stringify(summaryOf(file))},`);
  return `// Written by tools/products.ts from src/shell/commands.\n\nexport const commandSummaries: Readonly<Record<string, string>> = {\n${rows.join("\n")}\n};\n`;
}
