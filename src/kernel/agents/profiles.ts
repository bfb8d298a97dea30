// The profiles of processes. The context of each is in config/ai/profile/<id>/context.d; what it may do is in its policy.

import { fail } from "../../lib/sys-error.ts";

export type Profile = {
  id: string;
  displayName: string;
  description: string;
  /** People talk to it. */
  interactive: boolean;
  /** Clients offer it to people, and processes may start one. */
  startable: boolean;
  /** Works unattended: nobody can be asked. */
  background: boolean;
  spawnMode: "singleton" | "new";
};

const makeProfile = (id: string, displayName: string, description: string, rest: Partial<Profile> = {}): Profile => ({
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
  makeProfile("init", "Home", "Your long-lived agent: knows your machines, coordinates the others.", { spawnMode: "singleton" }),
  makeProfile("task", "Task", "Does one bounded piece of work."),
  makeProfile("review", "Review", "Reviews a package from evidence before it is trusted."),
  makeProfile("mcp", "Master Control", "Inspects and diagnoses this gateway."),
  makeProfile("app", "App Runtime", "Works for an app, as the app's configuration says.", { interactive: false, startable: false }),
  makeProfile("cron", "Cron", "Works unattended on a schedule: calls that need approval are refused.", {
    interactive: false,
    startable: false,
    background: true,
  }),
];

/** The profile of a process that is started without one. */
export const DEFAULT_PROFILE = "task";

export function findProfile(id: string): Profile | undefined {
  return PROFILES.find((profile) => profile.id === id);
}

export function mustBeProfile(id: string): Profile {
  return findProfile(id) ?? fail(400, `Invalid process profile: ${id}. Choose one of: ${PROFILES.map((profile) => profile.id).join(", ")}`);
}
