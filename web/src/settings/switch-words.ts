// The switches of a policy in words, and what a wide one means.

import type { PlaceKind, PlaceSwitches, Switches } from "../../../src/approval/switches.ts";

export type Words = { title: string; hint: string };
export type GeneralKind = "integrations" | "agents" | "configuration" | "other";

/** In the order in which they are shown. */
export const PLACE_WORDS: Readonly<Record<PlaceKind, { title: string; gateway: string; machine: string }>> = {
  commands: { title: "Run commands", gateway: "In the gateway's own shell.", machine: "As the user that runs GSV there." },
  reads: { title: "Read files", gateway: "And search in them, except secrets.", machine: "And search in them, except secrets." },
  files: { title: "Write files", gateway: "In homes and workspaces. Elsewhere they ask.", machine: "Anywhere, also by commands." },
  deletes: { title: "Delete", gateway: "Files, also by commands.", machine: "Files, also by commands that may destroy something." },
  network: {
    title: "Use the network",
    gateway: "Commands that connect, such as curl.",
    machine: "Commands that connect, such as curl and ssh.",
  },
  secrets: { title: "Read secrets", gateway: "Keys, passwords and .env files.", machine: "Keys, passwords and .env files." },
  unclear: {
    title: "Run what cannot be checked",
    gateway: "Commands whose effect is not known before they run.",
    machine: "Commands whose effect is not known before they run, and sudo.",
  },
};

export const GENERAL_WORDS: Readonly<Record<GeneralKind, Words>> = {
  integrations: { title: "Use integrations", hint: "Tools of connected MCP servers." },
  agents: { title: "Start agents and schedules", hint: "Helpers may always be started: they have no more rights." },
  configuration: {
    title: "Change settings and instructions",
    hint: "Also skills and this policy. Cannot be allowed: an agent could then allow itself everything.",
  },
  other: { title: "Anything else", hint: "Whatever no other switch covers." },
};

/** What people should know before they allow this, for one place. */
export function describeRisks(place: PlaceSwitches, name: string, isMachine: boolean): string[] {
  const risks: string[] = [];
  const kept = KEPT.filter(([kind]) => place[kind] !== "auto").map(([, words]) => words);
  if (place.commands === "auto" && kept.length === 0) return [`Agents may then run any command on ${name} without asking.`];
  if (place.commands === "auto" && isMachine)
    risks.push(`Agents may then run commands on ${name} without asking, except commands that ${joinWords(kept)}.`);
  if (place.secrets === "auto") risks.push(`Agents may then read keys and passwords on ${name} and pass them to the model.`);
  if (place.deletes === "auto") risks.push(`Agents may then delete files on ${name} without asking.`);
  if (place.files === "auto" && isMachine) risks.push(`Agents may then change any file on ${name} that GSV can write there.`);
  return risks;
}

export function describeGeneralRisks({ integrations, agents }: Switches): string[] {
  return [
    ...(integrations === "auto"
      ? ["Agents may then use every tool of your integrations without asking, also to send or change something."]
      : []),
    ...(agents === "auto" ? ["Agents may then plan work for later and start other agents without asking."] : []),
  ];
}

const KEPT: readonly [PlaceKind, string][] = [
  ["files", "write files"],
  ["deletes", "delete"],
  ["network", "use the network"],
  ["secrets", "read secrets"],
  ["unclear", "cannot be checked"],
];

function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
