// The targets a process can choose from, with the descriptions of their owners.

import { toOneLine } from "./section.ts";

export type ContextDevice = { id: string; description?: string; platform?: string };

export function deviceList(devices: readonly ContextDevice[]): string {
  const sorted = devices.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return ["- gsv", ...sorted.map(deviceLine)].join("\n");
}

function deviceLine({ id, description = "", platform = "" }: ContextDevice): string {
  const about = toOneLine(description) === "" ? "" : `: ${toOneLine(description)}`;
  const runs = toOneLine(platform) === "" ? "" : ` (${toOneLine(platform, 60)})`;
  return `- ${toOneLine(id)}${about}${runs}`;
}
