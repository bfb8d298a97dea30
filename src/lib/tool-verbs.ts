// What the tools of agents do, as verbs for people: "Running", "Ran". The same in the web desktop and at a terminal.

/** Of the verb: for a call that has not run, that runs, that has ended, and that did not do it. */
export type Tense = "future" | "present" | "past" | "failed";
export type Verb = Readonly<Record<Tense, string>>;

const VERBS: Readonly<Record<string, Verb>> = {
  // A command or a script that failed may have run.
  Shell: { ...makeVerb("Run", "Running", "Ran"), failed: "Ran" },
  CodeMode: { ...makeVerb("Run a script", "Running a script", "Ran a script"), failed: "Ran a script" },
  Read: makeVerb("Read", "Reading", "Read"),
  Write: makeVerb("Write", "Writing", "Wrote"),
  Edit: makeVerb("Edit", "Editing", "Edited"),
  Delete: makeVerb("Delete", "Deleting", "Deleted"),
  Search: makeVerb("Search for", "Searching for", "Searched for"),
  MCP: makeVerb("Use", "Using", "Used"),
};
const CHECK = makeVerb("Check a command", "Checking a command", "Checked a command");
const INTERRUPT = makeVerb("Interrupt a command", "Interrupting a command", "Interrupted a command");
const ANSWER = makeVerb("Type into a command", "Typing into a command", "Typed into a command");

function makeVerb(future: string, present: string, past: string): Verb {
  return { future, present, past, failed: `Could not ${future.slice(0, 1).toLowerCase()}${future.slice(1)}` };
}

type Call = { name: string; args: Readonly<Record<string, unknown>> | null };

/** A tool without words of its own is called by its name, which a model may have written. */
export function verbOfTool(name: string): Verb {
  if (Object.hasOwn(VERBS, name)) return VERBS[name]!;
  return makeVerb(`Call ${name}:`, `Calling ${name}:`, `Called ${name}:`);
}

/** For a call that goes on with a command that was left running; null for any other. */
export function verbOfSession({ name, args }: Call): Verb | null {
  if (name !== "Shell" || typeof args?.sessionId !== "string") return null;
  if (args.input === undefined || args.input === "") return CHECK;
  return args.input === "\u0003" ? INTERRUPT : ANSWER;
}
