// What one could ask in an empty conversation, chosen by what is connected. The demo model understands only fixed phrases
// (src/models/demo-phrases.ts). Pure functions.

export type Connected = {
  isDemo: boolean;
  /** The machine that was used last, if one is online. */
  machine: string | null;
  /** Names of MCP servers that are ready, and of skills. */
  servers: readonly string[];
  skills: readonly string[];
};

const SUGGESTIONS_MAX = 4;

export function suggestMessages({ isDemo, machine, servers, skills }: Connected): string[] {
  if (isDemo)
    return [
      ...(machine === null ? [] : [`run uname -a on ${machine}`]),
      "What can you do?",
      "write a note: water the plants",
      "show devices",
      "remember that my bike is blue",
    ].slice(0, SUGGESTIONS_MAX);
  const [server] = servers;
  const [skill] = skills;
  return [
    ...(machine === null ? [] : [`What uses the disk on ${machine}?`, `Which programs use the most memory on ${machine}?`]),
    ...(server === undefined ? [] : [`What can you do with ${server}?`]),
    ...(skill === undefined ? [] : [`Use the skill ${skill}`]),
    "Remind me tomorrow at 9:00 to water the plants",
    "What can you do for me here?",
    "Write a note with three questions about my work, and ask me them",
  ].slice(0, SUGGESTIONS_MAX);
}
