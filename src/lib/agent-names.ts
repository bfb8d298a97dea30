// Names of agents and of their kinds, the same on every screen, in the command line and in notifications. A label and a profile may
// be anybody's text: the caller says how its screen makes them safe to show.

type Agent = { pid: string; profile: string; label: string | null };

const KINDS: Readonly<Record<string, string>> = {
  init: "Personal agent",
  task: "Helper",
  review: "Reviewer",
  mcp: "Gateway inspector",
  app: "App agent",
  cron: "Scheduled work",
};

/** A name for one agent: its label, or its kind and the start of its id. */
export function nameOfAgent({ label, profile, pid }: Agent, makeSafe: (text: string) => string): string {
  if (profile === "init") return nameOfAgentKind(profile, makeSafe);
  return makeSafe(label?.trim() ?? "") || `${nameOfAgentKind(profile, makeSafe)} ${pid.slice(0, 6)}`;
}

/** A kind that this version does not know keeps its profile's name. */
export function nameOfAgentKind(profile: string, makeSafe: (text: string) => string): string {
  return Object.hasOwn(KINDS, profile) ? KINDS[profile]! : makeSafe(profile);
}
