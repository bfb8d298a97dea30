// The targets a process can choose from, with the descriptions of their owners.

import { oneLine } from "./section.ts";

export type ContextDevice = { id: string; description?: string; platform?: string };

export function deviceList(devices: readonly ContextDevice[]): string {
  const sorted = devices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return ["- gsv", ...sorted.map(line)].join("\n");
}

function line({ id, description = "", platform = "" }: ContextDevice): string {
  const about = oneLine(description) === "" ? "" : `: ${oneLine(description)}`;
  const runs = oneLine(platform) === "" ? "" : ` (${oneLine(platform, 60)})`;
  return `- ${oneLine(id)}${about}${runs}`;
}
