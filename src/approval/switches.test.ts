// Switches and the policies that they compile to.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { reference } from "../generated/reference.ts";
import { defaultPolicy, isNamedByDefault, NEVER } from "./defaults.ts";
import { type Action, decide, type Policy, readPolicy } from "./policy.ts";
import { parseScript } from "./script.ts";
import { compileSwitches, defaultSwitches, PLACE_KINDS, type PlaceSwitches, readSwitches, type Switches } from "./switches.ts";
import { judge } from "./tags.ts";

const AROUND = { profile: "init", cwd: "/home/ann", home: "/home/ann", workspace: "/workspaces/ws_1" };
const CALLS: readonly [call: string, args: Record<string, unknown>][] = [
  ...[".", "/etc/hosts", "~/.ssh/id_rsa", "~/notes/a", "~/context.d/a.md", "/tmp/a", "project/.env", "/srv/a"].flatMap(
    (path): [string, Record<string, unknown>][] =>
      ["fs.read", "fs.search", "fs.download", "fs.write", "fs.edit", "fs.upload", "fs.delete"].map((call) => [call, { path }]),
  ),
  ...[
    "ls -la",
    "echo x > notes.md",
    "rm a",
    "cat ~/.ssh/id_rsa",
    "cat *",
    "curl https://example.org",
    "$x",
    "sudo ls",
    "mkfs /dev/sdb",
    "echo x > ~/context.d/a",
    "sched add every day at 9 x",
    "mcp call Linear list_issues",
  ].map((input): [string, Record<string, unknown>] => ["shell.exec", { input }]),
  ["shell.exec", { input: "", sessionId: "s" }],
  ["shell.exec", { input: "y\n", sessionId: "s" }],
];
const KERNEL_CALLS: readonly [call: string, args: Record<string, unknown>][] = [
  ...reference
    .filter(({ runs }) => runs !== "hardware")
    .map(({ name, example }): [string, Record<string, unknown>] => [name, example.args as Record<string, unknown>]),
  ["sys.doctor", { tryModel: true }],
  ["proc.spawn", { profile: "task" }],
  ["proc.spawn", { profile: "review" }],
  ["repo.create", { public: true }],
  ["repo.read", { repo: "ann/x", path: ".env" }],
  ["repo.apply", { repo: "ann/x", ops: [{ type: "delete", path: "a" }] }],
  ["repo.apply", { repo: "ann/x", ops: [{ type: "put", path: ".gsv/context.d/a" }] }],
  ["pkg.install", {}],
  ...["~/a", "~/.ssh/id_rsa", "~/context.d/a", "/etc/a"].flatMap((path) =>
    ["gsv", "laptop"].flatMap((from) =>
      ["gsv", "laptop"].map((to): [string, Record<string, unknown>] => [
        "fs.copy",
        { from: { target: from, path }, to: { target: to, path } },
      ]),
    ),
  ),
];
const GATEWAY = CALLS.map(([call, args]) => judge({ call, args, ...AROUND, device: null, devices: [] }, parseScript));
const onDevice = (name: string) =>
  CALLS.map(([call, args]) => judge({ call, args: { ...args, target: name }, ...AROUND, device: name, devices: [name] }, parseScript));
const LAPTOP = onDevice("laptop");
const SERVER = onDevice("server");
const KERNEL = KERNEL_CALLS.map(([call, args]) => {
  const ends = [args.from, args.to].map((end) => (end as { target?: string } | undefined)?.target);
  return judge({ call, args, ...AROUND, device: null, devices: ends.filter((end) => end === "laptop") });
});
const ALL = [...GATEWAY, ...LAPTOP, ...SERVER, ...KERNEL];

const action = fc.constantFrom<Action>("auto", "ask", "deny");
const guarded = fc.constantFrom<"ask" | "deny">("ask", "deny");
const place = fc.record(Object.fromEntries(PLACE_KINDS.map((kind) => [kind, action]))) as fc.Arbitrary<PlaceSwitches>;
const switches: fc.Arbitrary<Switches> = fc.record({
  gateway: place,
  machines: place,
  devices: fc.dictionary(fc.constantFrom("laptop", "bob@nas", "__proto__x"), place),
  integrations: action,
  agents: action,
  configuration: guarded,
  other: guarded,
});

function actionOf(policy: Policy, request: (typeof ALL)[number]): Action {
  return decide({ ok: true, policy }, request).action;
}

test("the default switches decide as the default policy does", () => {
  for (const [profile, isUnattended] of [
    ["init", false],
    ["cron", true],
  ] as const) {
    const standard = defaultPolicy(profile);
    const policy = compileSwitches(defaultSwitches(isUnattended));
    for (const request of ALL) {
      const { action: expected } = decide(standard, request);
      expect(actionOf(policy, request), `${profile} ${request.call} ${JSON.stringify(request.args)}`).toBe(expected);
    }
  }
});

test("the gateway can read what switches compile to, and it compiles back to the same switches, whatever happened to the text between", () => {
  const isCall = (name: string) => reference.some((call) => call.name === name) || isNamedByDefault(name);
  fc.assert(
    fc.property(switches, (switches) => {
      const policy = compileSwitches(switches);
      const text = JSON.stringify(policy, null, 2);
      expect(readPolicy(text, isCall)).toEqual({ ok: true, policy });
      expect(readSwitches(JSON.parse(text))).toEqual({ switches, missing: [] });
    }),
  );
});

test("a policy that no switches compile to is not read as switches", () => {
  const standard = defaultPolicy("init");
  for (const policy of [
    null,
    [],
    {},
    "x",
    { default: "ask", rules: [null] },
    { default: "ask", rules: [] },
    standard.ok && standard.policy,
  ])
    expect(readSwitches(policy)).toBeNull();
  fc.assert(
    fc.property(switches, fc.nat(), fc.constantFrom("drop", "twice", "action", "when", "default"), (switches, at, change) => {
      const policy = JSON.parse(JSON.stringify(compileSwitches(switches))) as { default: Action; rules: Policy["rules"] };
      const rule = policy.rules[at % policy.rules.length]!;
      if (change === "drop") policy.rules.splice(at % policy.rules.length, 1);
      if (change === "twice") policy.rules.push(rule);
      if (change === "action") rule.action = rule.action === "auto" ? "deny" : "auto";
      if (change === "when") rule.when = { ...rule.when, profile: "cron" };
      if (change === "default") policy.default = "auto";
      const read = readSwitches(policy);
      if (read === null) return;
      // A call that was not there yet when the policy was written is named. Otherwise the policy is that of other switches.
      if (read.missing.length > 0) expect([change, read]).toEqual(["drop", { switches, missing: [rule.match] }]);
      else expect([["drop", "action"].includes(change), compileSwitches(read.switches)]).toEqual([true, policy]);
    }),
  );
});

test("whatever is switched, no agent may do what only people may, and nothing that changes the policy runs by itself", () => {
  const never = new Set(NEVER.trim().split(/\s+/));
  const standard = defaultPolicy("init");
  fc.assert(
    fc.property(switches, (switches) => {
      const policy = compileSwitches(switches);
      for (const request of KERNEL.filter(({ call }) => never.has(call))) expect(actionOf(policy, request)).toBe("deny");
      const isBearing = ({ tags, call }: (typeof ALL)[number]) => tags.has("policy-bearing") && !/^(?:sched|signal)\./.test(call);
      for (const request of ALL.filter((one) => isBearing(one) && decide(standard, one).action !== "auto"))
        expect(actionOf(policy, request), request.call).not.toBe("auto");
    }),
    { numRuns: 40 },
  );
});

const STRICTNESS = { auto: 0, ask: 1, deny: 2 };

test("no switch is weaker than what was chosen for its kind and place: a stricter one decides", () => {
  const expectAtLeast = (policy: Policy, requests: typeof ALL, wanted: Action) => {
    for (const request of requests)
      expect(STRICTNESS[actionOf(policy, request)], `${request.call} ${JSON.stringify(request.args)}`).toBeGreaterThanOrEqual(
        STRICTNESS[wanted],
      );
  };
  fc.assert(
    fc.property(switches, (switches) => {
      const policy = compileSwitches(switches);
      for (const [requests, place] of [
        [GATEWAY, switches.gateway],
        [LAPTOP, switches.devices.laptop ?? switches.machines],
        [SERVER, switches.machines],
      ] as const) {
        const of = (...calls: string[]) => requests.filter(({ call, tags }) => calls.includes(call) && !tags.has("looks"));
        expectAtLeast(policy, of("fs.read", "fs.search", "fs.download"), place.reads);
        expectAtLeast(policy, of("fs.write", "fs.edit", "fs.upload"), place.files);
        expectAtLeast(policy, of("fs.delete"), place.deletes);
        expectAtLeast(policy, of("shell.exec"), place.commands);
        const tagged = (...tags: string[]) => of("shell.exec", "fs.read").filter((one) => tags.some((tag) => one.tags.has(tag as never)));
        expectAtLeast(policy, tagged("reads-secret"), place.secrets);
        expectAtLeast(
          policy,
          of("shell.exec").filter(({ tags }) => tags.has("deletes")),
          place.deletes,
        );
        expectAtLeast(
          policy,
          of("shell.exec").filter(({ tags }) => tags.has("mutating")),
          place.files,
        );
        expectAtLeast(policy, tagged("connects"), place.network);
        expectAtLeast(policy, tagged("opaque", "elevates"), place.unclear);
      }
    }),
    { numRuns: 40 },
  );
});

test("a copy between two machines that are switched one by one is decided as the stricter of both says", () => {
  const base = defaultSwitches(false);
  const names = ["laptop", "nas"];
  fc.assert(
    fc.property(action, action, (first, second) => {
      const devices = { laptop: { ...base.machines, files: first }, nas: { ...base.machines, files: second } };
      const policy = compileSwitches({ ...base, devices });
      for (const [from, to] of [names, names.toReversed()]) {
        const args = { from: { target: from, path: "/srv/a" }, to: { target: to, path: "/srv/b" } };
        const decided = actionOf(policy, judge({ call: "fs.copy", args, ...AROUND, device: null, devices: names }));
        const isDenied = first === "deny" || second === "deny";
        // What is allowed on one machine says nothing about two.
        expect([from, to, decided]).toEqual([from, to, isDenied ? "deny" : "ask"]);
      }
    }),
  );
});

test("allowing commands on one machine allows them there only", () => {
  const base = defaultSwitches(false);
  const open = { ...base.machines, commands: "auto", files: "auto" } as const;
  const policy = compileSwitches({ ...base, devices: { laptop: open } });
  const run = (input: string, name: string) =>
    actionOf(policy, judge({ call: "shell.exec", args: { input, target: name }, ...AROUND, device: name, devices: [name] }, parseScript));
  expect([run("uptime", "laptop"), run("uptime", "server"), run("uptime", "bob@laptop")]).toEqual(["auto", "ask", "ask"]);
  expect([run("rm a", "laptop"), run("sudo ls", "laptop"), run("curl x.org", "laptop"), run("cat ~/.ssh/id_rsa", "laptop")]).toEqual(
    Array(4).fill("ask"),
  );
  const copy = (from: string, to: string) => {
    const args = { from: { target: from, path: "/srv/a" }, to: { target: to, path: "/srv/b" } };
    return actionOf(policy, judge({ call: "fs.copy", args, ...AROUND, device: null, devices: [from, to].filter((one) => one !== "gsv") }));
  };
  expect([copy("gsv", "laptop"), copy("laptop", "laptop"), copy("server", "laptop"), copy("laptop", "server")]).toEqual([
    "auto",
    "auto",
    "ask",
    "ask",
  ]);
});
