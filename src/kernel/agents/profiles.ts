// The kinds of processes there are. What each is told is in config/ai/profile/<id>/context.d, what each may do in its policy.

import { fail } from "../../lib/sys-error.ts";

export type Profile = {
  id: string;
  displayName: string;
  description: string;
  /** People talk to it. */
  interactive: boolean;
  /** People may start one. */
  startable: boolean;
  /** It works by itself, and nobody is there to be asked. */
  background: boolean;
  spawnMode: "singleton" | "new";
};

const one = (id: string, displayName: string, description: string, rest: Partial<Profile> = {}): Profile => ({
  id,
  displayName,
  description,
  interactive: true,
  startable: true,
  background: false,
  spawnMode: "new",
  ...rest,
});

export const PROFILES: readonly Profile[] = [
  one("init", "Home", "Your long-lived agent: knows your machines, coordinates the others.", { spawnMode: "singleton" }),
  one("task", "Task", "Does one bounded piece of work."),
  one("review", "Review", "Reviews a package from evidence before it is trusted."),
  one("mcp", "Master Control", "Looks at and diagnoses this gateway."),
  one("app", "App Runtime", "Works for an app, as the app is configured.", { interactive: false, startable: false }),
  one("cron", "Cron", "Works unattended on a schedule: whatever would have to be asked is refused.", {
    interactive: false,
    startable: false,
    background: true,
  }),
];

/** Of a process that is started without one. */
export const DEFAULT_PROFILE = "task";

export function profileOf(id: string): Profile | undefined {
  return PROFILES.find((profile) => profile.id === id);
}

export function mustBeProfile(id: string): Profile {
  return profileOf(id) ?? fail(400, `Invalid process profile: ${id}. There are: ${PROFILES.map((profile) => profile.id).join(", ")}`);
}
