// A policy as switches: for each kind of action allow, ask or never, on the gateway, on machines and on single machines. People set
// switches; the gateway decides by the policy that they compile to. Where several switches fit a call, the strictest decides. A policy
// that no switches compile to is never changed here: `readSwitches` returns null for it.

import { NEVER, OWN_WORK, READS, rulesFor, WRITES } from "./defaults.ts";
import type { Action, Policy, Rule } from "./policy.ts";
import { MCP_CALL, type Tag } from "./request.ts";

/** What can be switched for each place. */
export const PLACE_KINDS = ["reads", "secrets", "files", "deletes", "commands", "network", "unclear"] as const;
export type PlaceKind = (typeof PLACE_KINDS)[number];
export type PlaceSwitches = Readonly<Record<PlaceKind, Action>>;

/** Allowing what these cover would let an agent rewrite the policy, or do what nobody has thought of yet. */
type Guarded = Exclude<Action, "auto">;

export type Switches = {
  readonly gateway: PlaceSwitches;
  readonly machines: PlaceSwitches;
  /** By the permanent name of a machine: they decide instead of `machines`. */
  readonly devices: Readonly<Record<string, PlaceSwitches>>;
  readonly integrations: Action;
  readonly agents: Action;
  readonly configuration: Guarded;
  readonly other: Guarded;
};

/** Decides as the default policy does. Nobody can be asked about unattended work. */
export function defaultSwitches(isUnattended: boolean): Switches {
  const ask: Guarded = isUnattended ? "deny" : "ask";
  return {
    gateway: { reads: "auto", secrets: ask, files: "auto", deletes: ask, commands: "auto", network: ask, unclear: ask },
    machines: { reads: "auto", secrets: ask, files: ask, deletes: ask, commands: ask, network: ask, unclear: ask },
    devices: {},
    integrations: ask,
    agents: ask,
    configuration: ask,
    other: ask,
  };
}

export function compileSwitches(switches: Switches): Policy {
  const { gateway, machines, devices, integrations, agents, configuration, other } = switches;
  const places: Place[] = [
    ...Object.keys(devices)
      .toSorted()
      .map((device): Place => ({ when: { device }, switches: devices[device]!, isMachine: true })),
    { when: { target: "device" }, switches: machines, isMachine: true },
    { when: {}, switches: gateway, isMachine: false },
  ];
  const all = places.map((place) => place.switches);
  const copiesSecrets = strictest(...all.flatMap(({ reads, secrets }) => [reads, secrets]));
  const copies = strictest(...all.map(({ reads }) => reads));
  return {
    default: other,
    rules: [
      { match: "sys.doctor", action: other, when: { argEquals: { tryModel: true } } },
      { match: "repo.create", action: other, when: { argEquals: { public: true } } },
      ...places.flatMap((place) => FILE_READS.flatMap((match) => readRules(match, place))),
      ...["repo.read", "repo.search"].flatMap((match) => readRules(match, places.at(-1)!)),
      ...FIXED,
      // What a helper does is decided by this policy, too.
      { match: "proc.spawn", action: "auto", when: { argEquals: { profile: "task" } } },
      ...AGENT_CALLS.map((match): Rule => ({ match, action: agents })),
      { match: MCP_CALL, action: integrations },
      ...withDeniedCopiesFirst(
        places.flatMap((place) =>
          WRITES.flatMap((match) => {
            const isCopy = match === "fs.copy";
            return ordered(match, place.when, [
              { action: isCopy ? copiesSecrets : "auto", tags: ["reads-secret"] },
              { action: isCopy ? copies : "auto" },
              { action: configuration, tags: ["policy-bearing"] },
              { action: place.switches.files, ...writtenWhere(place), isLast: true },
            ]);
          }),
        ),
      ),
      ...places.flatMap(({ when, switches }) =>
        ordered("fs.delete", when, [
          { action: configuration, tags: ["policy-bearing"] },
          { action: switches.deletes, isLast: true },
        ]),
      ),
      ...ordered("repo.apply", {}, [
        { action: gateway.deletes, tags: ["deletes"] },
        { action: configuration, tags: ["policy-bearing"] },
        { action: gateway.files, isLast: true },
      ]),
      ...ordered("repo.import", {}, [
        { action: configuration, tags: ["policy-bearing"] },
        { action: gateway.network, isLast: true },
      ]),
      { match: "shell.exec", action: "auto", when: { anyTag: ["looks"] } },
      ...places.flatMap(({ when, switches, isMachine }) =>
        ordered("shell.exec", when, [
          ...COMMAND_KINDS.map((kind) => ({ action: switches[kind], tags: isMachine ? MACHINE_TAGS[kind] : GATEWAY_TAGS[kind] })),
          { action: configuration, tags: ["policy-bearing"] },
          { action: switches.commands, isLast: true },
        ]),
      ),
      ...CONFIGURATION_FAMILIES.map((match): Rule => ({ match, action: configuration })),
    ],
  };
}

/** `missing`: calls that the policy does not name because it was written before they existed, or because somebody removed them. */
export type ReadSwitches = { switches: Switches; missing: readonly string[] };

/** The switches that compile to exactly this policy, but for the calls that every such policy decides alike; null if there are none. */
export function readSwitches(policy: unknown): ReadSwitches | null {
  const rules = rulesOf(policy);
  if (rules === null) return null;
  const actionOf = (match: string, when?: Rule["when"]) =>
    rules.find((rule) => rule.match === match && isEqual(rule.when ?? null, when ?? null))?.action;
  const placeSwitches = (when: NonNullable<Rule["when"]>, isMachine: boolean): Partial<PlaceSwitches> => {
    const commands = rules.filter((rule) => rule.match === "shell.exec" && isEqual(withoutTags(rule.when), when));
    const tagsWith = (action: Action) => commands.flatMap((rule) => (rule.action === action ? (rule.when?.anyTag ?? []) : []));
    const [denied, asked] = [tagsWith("deny"), tagsWith("ask")];
    const byTag = (kind: CommandKind): Action => {
      const tag = (isMachine ? MACHINE_TAGS : GATEWAY_TAGS)[kind][0]!;
      return denied.includes(tag) ? "deny" : asked.includes(tag) ? "ask" : "auto";
    };
    const plain = Object.keys(when).length === 0 ? undefined : when;
    return {
      ...Object.fromEntries(COMMAND_KINDS.map((kind) => [kind, byTag(kind)])),
      reads: actionOf("fs.read", plain),
      deletes: actionOf("fs.delete", plain),
      commands: actionOf("shell.exec", plain),
    } as Partial<PlaceSwitches>;
  };
  const names = new Set(rules.flatMap(({ when }) => when?.device ?? []));
  const read = {
    gateway: placeSwitches({}, false),
    machines: placeSwitches({ target: "device" }, true),
    devices: Object.fromEntries([...names].map((device) => [device, placeSwitches({ device }, true)])),
    integrations: actionOf(MCP_CALL),
    agents: actionOf("sched.add"),
    configuration: actionOf("sys.*"),
    other: (policy as Policy).default,
  } as Switches;
  if (!isComplete(read)) return null;
  const missing = FIXED.filter((fixed) => !rules.some((rule) => isEqual(rule, fixed)));
  const compiled = compileSwitches(read);
  const expected = { ...compiled, rules: compiled.rules.filter((rule) => !missing.some((one) => isEqual(one, rule))) };
  return isEqual(expected, policy) ? { switches: read, missing: missing.map(({ match }) => match) } : null;
}

/** `when` holds for what happens there: of several places the first whose condition holds decides. */
type Place = { when: NonNullable<Rule["when"]>; switches: PlaceSwitches; isMachine: boolean };
/** One switch that a call meets. The last one decides what no other restricts. */
type Part = { action: Action; tags?: readonly Tag[]; when?: Rule["when"]; isLast?: true };
type CommandKind = "secrets" | "files" | "deletes" | "network" | "unclear";

const COMMAND_KINDS: readonly CommandKind[] = ["secrets", "files", "deletes", "network", "unclear"];
const GATEWAY_TAGS: Readonly<Record<CommandKind, readonly Tag[]>> = {
  secrets: ["reads-secret"],
  files: ["mutating"],
  deletes: ["deletes"],
  network: ["connects"],
  unclear: ["opaque", "elevates"],
};
/** On a machine nothing but the text of a command says what it does, so that whatever may do it counts. */
const MACHINE_TAGS: Readonly<Record<CommandKind, readonly Tag[]>> = {
  secrets: ["reads-secret", "unknown-reads"],
  files: ["mutating", "unknown-path"],
  deletes: ["deletes", "destructive"],
  network: ["connects", "network"],
  unclear: ["opaque", "elevates", "privileged"],
};
const FILE_READS: readonly string[] = ["fs.read", "fs.search", "fs.download"];
const SWITCHED_READS: ReadonlySet<string> = new Set([...FILE_READS, "repo.read", "repo.search"]);
/** What no switch changes. */
const FIXED: readonly Rule[] = [
  ...rulesFor(READS, "auto").filter(({ match }) => !SWITCHED_READS.has(match)),
  ...rulesFor(NEVER, "deny"),
  ...rulesFor(OWN_WORK, "auto"),
];
const AGENT_CALLS: readonly string[] = ["proc.spawn", "sched.add", "sched.update", "sched.remove", "sched.run", "signal.watch"];
const CONFIGURATION_FAMILIES: readonly string[] = ["sys.*", "adapter.*", "pkg.*"];
const STRICTNESS: Readonly<Record<Action, number>> = { auto: 0, ask: 1, deny: 2 };

function strictest(...actions: readonly Action[]): Action {
  return actions.reduce((one, other) => (STRICTNESS[other] > STRICTNESS[one] ? other : one));
}

function readRules(match: string, { when, switches: { reads, secrets } }: Place): Rule[] {
  return [makeRule(match, strictest(reads, secrets), { ...when, anyTag: ["reads-secret"] }), makeRule(match, reads, when)];
}

/** On the gateway agents write in homes, workspaces and temporary files; the rest is decided as anything else is. */
function writtenWhere({ isMachine, switches }: Place): Pick<Part, "when"> {
  if (isMachine) return { when: { allTags: ["onto-device"] } };
  return switches.files === "auto" ? { when: { anyTag: ["in-home", "in-workspace", "scratch"] } } : {};
}

/** The strictest part comes first, so that the first rule that fits decides as the strictest switch would. */
function ordered(match: string, place: NonNullable<Rule["when"]>, parts: readonly Part[]): Rule[] {
  const last = parts.find(({ isLast }) => isLast === true)!;
  const final = makeRule(match, last.action, { ...place, ...last.when });
  const restrict = (action: Action): Rule[] => {
    const strict = parts.filter((part) => part !== last && part.action === action);
    if (strict.some(({ tags }) => tags === undefined)) return [makeRule(match, action, place)];
    const anyTag = strict.flatMap(({ tags = [] }) => tags);
    return anyTag.length === 0 ? [] : [makeRule(match, action, { ...place, anyTag })];
  };
  return last.action === "deny" ? [...restrict("deny"), final, ...restrict("ask")] : [...restrict("deny"), ...restrict("ask"), final];
}

/** A copy may reach two single machines: what one of them denies comes before what the other asks about. The others' rules come later. */
function withDeniedCopiesFirst(rules: readonly Rule[]): Rule[] {
  const isCopy = ({ match, when }: Rule) => match === "fs.copy" && when?.device !== undefined;
  const copies = rules.filter(isCopy);
  const sorted = [...copies.filter(({ action }) => action === "deny"), ...copies.filter(({ action }) => action !== "deny")];
  return rules.map((rule) => (isCopy(rule) ? sorted.shift()! : rule));
}

function makeRule(match: string, action: Action, when: NonNullable<Rule["when"]>): Rule {
  return Object.keys(when).length === 0 ? { match, action } : { match, action, when };
}

function rulesOf(policy: unknown): readonly Rule[] | null {
  const rules = (policy as { rules?: unknown } | null)?.rules;
  return Array.isArray(rules) && rules.every((rule) => typeof rule === "object" && rule !== null) ? (rules as Rule[]) : null;
}

function withoutTags(when: Rule["when"]): NonNullable<Rule["when"]> {
  const { anyTag: _, ...rest } = when ?? {};
  return rest;
}

function isComplete({ gateway, machines, devices, integrations, agents, configuration, other }: Switches): boolean {
  const isPlace = (place: PlaceSwitches) => PLACE_KINDS.every((kind) => isAction(place[kind]));
  return (
    [integrations, agents, configuration, other].every(isAction) &&
    [configuration, other].every((action: Action) => action !== "auto") &&
    [gateway, machines, ...Object.values(devices)].every(isPlace)
  );
}

function isAction(value: unknown): value is Action {
  return typeof value === "string" && Object.hasOwn(STRICTNESS, value);
}

/** The order of keys does not count. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const keys = Object.keys(left);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key]))
  );
}
