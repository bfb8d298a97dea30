// The table of allowed imports in ARCHITECTURE.md.

import { FOLDERS } from "../tidy/table.ts";
import { filled } from "./filled.ts";

export const ARCHITECTURE = "ARCHITECTURE.md";

export function withImportTable(text: string): string {
  return filled(ARCHITECTURE, text, { imports });
}

function imports(): string {
  const rows = Object.entries(FOLDERS).map(
    ([name, { about, imports, types = [], packages }]) =>
      `| \`${name}\` | ${about} | ${[...imports, ...types.map((one) => `${one} (types)`)].join(", ") || "nothing"} | ${packages === undefined ? "any" : packages.join(", ") || "none"} |`,
  );
  return ["| folder | holds | imports | packages |", "| --- | --- | --- | --- |", ...rows].join("\n");
}
