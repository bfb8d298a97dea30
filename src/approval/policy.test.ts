import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Action, checkPolicy, decide, type Policy, readPolicy, type Rule, pickStricter, denyUnattended } from "./policy.ts";
import { type JudgedCall, type CallToJudge, type Tag, TAGS } from "./request.ts";
import { parseScript } from "./script.ts";
import { judge } from "./tags.ts";

const AROUND = { profile: "task", cwd: "/home/ann", home: "/home/ann", workspace: null };

function judgeCall(call: string, args: Record<string, unknown>, more: Partial<CallToJudge> = {}): JudgedCall {
  return judge({ call, args, ...AROUND, ...more }, parseScript);
}

function decideBy(rules: unknown[], request: JudgedCall, otherwise: Action = "ask"): Action {
  return decide(checkPolicy({ default: otherwise, rules }), request).action;
}

test("exact names come before families, each in the order of the policy", () => {
  const rules = [
    { match: "fs.*", action: "deny" },
    { match: "fs.read", action: "ask", when: { target: "device" } },
    { match: "fs.read", action: "auto" },
    { match: "fs.read", action: "deny" },
  ];
  expect(decideBy(rules, judgeCall("fs.read", { path: "a" }))).toBe("auto");
  expect(decideBy(rules, judgeCall("fs.read", { path: "a", target: "laptop" }))).toBe("ask");
  expect(decideBy(rules, judgeCall("fs.write", { path: "a" }))).toBe("deny");
  expect(decideBy([{ match: "sys.mcp.*", action: "deny" }], judgeCall("sys.mcp", {}))).toBe("deny");
  expect(decideBy([{ match: "sys.m.*", action: "deny" }], judgeCall("sys.mcp.call", {}))).toBe("ask");
  expect(decideBy([], judgeCall("fs.read", { path: "a" }), "deny")).toBe("deny");
});

test("every condition of a rule must hold", () => {
  const request = judgeCall("fs.delete", { path: "a", target: "laptop", recursive: true });
  const holds = (when: unknown) => decideBy([{ match: "fs.delete", action: "deny", when }], request) === "deny";
  expect(holds({ profile: "task" })).toBe(true);
  expect(holds({ profile: "cron" })).toBe(false);
  expect(holds({ anyProfile: ["cron", "task"] })).toBe(true);
  expect(holds({ anyProfile: ["cron"] })).toBe(false);
  expect(holds({ target: "device" })).toBe(true);
  expect(holds({ target: "gsv" })).toBe(false);
  expect(holds({ anyTag: ["network", "deletes"] })).toBe(true);
  expect(holds({ anyTag: ["network"] })).toBe(false);
  expect(holds({ allTags: ["remote", "deletes"] })).toBe(true);
  expect(holds({ allTags: ["remote", "network"] })).toBe(false);
  expect(holds({ argEquals: { recursive: true } })).toBe(true);
  expect(holds({ argEquals: { recursive: "true" } })).toBe(false);
  expect(holds({ argEquals: { constructor: "x" } })).toBe(false);
  expect(holds({ argPrefix: { target: "lap" } })).toBe(true);
  expect(holds({ argPrefix: { target: "lap" }, argEquals: { recursive: false } })).toBe(false);
});

test("a rule for one device allows only what is known to reach nothing else, and asks or denies where that device may be meant", () => {
  const on = (action: Action) => [{ match: "shell.exec", action, when: { device: "laptop" } }];
  const run = (devices?: readonly string[]) => judgeCall("shell.exec", { input: "uptime", target: "x" }, { ...(devices && { devices }) });
  const decideFor = (action: Action) =>
    [["laptop"], ["server"], ["laptop", "server"], [], undefined].map((at) => decideBy(on(action), run(at)));
  expect(decideFor("auto")).toEqual(["auto", "ask", "ask", "ask", "ask"]);
  expect(decideFor("deny")).toEqual(["deny", "ask", "deny", "ask", "deny"]);
  expect(decide(checkPolicy({ default: "ask", rules: on("deny") }), run(["laptop"])).why).toBe("shell.exec on laptop is not allowed");
  expect(decideBy(on("deny"), judgeCall("shell.exec", { input: "uptime" }))).toBe("ask");
});

test("a path means the same in every spelling", () => {
  const rule = (action: Action, prefix: string) => [{ match: "fs.write", action, when: { argPrefix: { path: prefix } } }];
  const write = (path: string, target?: string) => judgeCall("fs.write", { path, content: "", ...(target && { target }) });
  expect(decideBy(rule("auto", "/srv/"), write("/srv/a"))).toBe("auto");
  expect(decideBy(rule("auto", "/srv/"), write("/srv/../etc/passwd"))).toBe("ask");
  expect(decideBy(rule("auto", "~/notes/"), write("~/notes/a"))).toBe("auto");
  expect(decideBy(rule("auto", "~/notes/"), write("~/notes/../.ssh/a"))).toBe("ask");
  expect(decideBy(rule("auto", "/srv/"), write("/srv/../etc/passwd", "laptop"))).toBe("ask");
  expect(decideBy(rule("auto", "~/a/"), write("~/a/../../x", "laptop"))).toBe("ask");
  expect(decideBy(rule("deny", "/etc/"), write("/home/../etc/passwd"))).toBe("deny");
  expect(decideBy(rule("deny", "/etc/"), write("../../etc/passwd"))).toBe("deny");
  expect(decideBy(rule("deny", "/etc/"), write("//etc//passwd", "laptop"))).toBe("deny");
  expect(decideBy(rule("deny", "/etc/"), write("~/../../etc/passwd", "laptop"))).toBe("deny");
  expect(decideBy(rule("deny", "/etc/"), write("/srv/a"))).toBe("ask");
});

test("a rule that allows a command by its prefix covers one plain command only", () => {
  const rules = [{ match: "shell.exec", action: "auto", when: { argPrefix: { input: "wc " } } }];
  expect(decideBy(rules, judgeCall("shell.exec", { input: "wc -l a" }))).toBe("auto");
  for (const input of ["wc -l a; rm b", "wc $(rm b)", "wc a > b", "wc a | sh", "wc a & rm b", "wc `rm b`", "wc <(rm b)", "wc 'a"])
    expect(decideBy(rules, judgeCall("shell.exec", { input })), input).toBe("ask");
});

test("the reason names the tags that were found", () => {
  const read = checkPolicy({ default: "auto", rules: [{ match: "shell.exec", action: "ask", when: { anyTag: ["deletes", "opaque"] } }] });
  expect(decide(read, judgeCall("shell.exec", { input: "rm x" }))).toEqual({
    action: "ask",
    why: "Approval required: shell.exec (it deletes something)",
    rule: 0,
  });
  expect(decide(read, judgeCall("fs.read", { path: "x" })).why).toBe("fs.read is allowed (no rule matches)");
});

const UNREADABLE: readonly [policy: unknown, says: string][] = [
  ["", "not valid JSON"],
  ["{", "not valid JSON"],
  ["null", "the policy"],
  ["[]", "the policy"],
  ['"auto"', "the policy"],
  [{}, "default"],
  [{ default: "auto" }, "rules: must be a list of rules"],
  [{ rules: [] }, 'default: must be "auto", "ask" or "deny"'],
  [{ default: "allow", rules: [] }, "default"],
  [{ default: "AUTO", rules: [] }, "default"],
  [{ default: "auto", rules: {} }, "rules"],
  [{ default: "auto", rules: [], extra: 1 }, "unknown extra"],
  [{ default: "auto", rules: [null] }, "rules.0"],
  [{ default: "auto", rules: [{ match: "fs.read" }] }, "rules.0.action"],
  [{ default: "auto", rules: [{ action: "deny" }] }, "rules.0.match"],
  [{ default: "auto", rules: [{ match: "*", action: "deny" }] }, "default covers everything else"],
  [{ default: "auto", rules: [{ match: "", action: "deny" }] }, "rules.0.match"],
  [{ default: "auto", rules: [{ match: "fs.*.x", action: "deny" }] }, "rules.0.match"],
  [{ default: "auto", rules: [{ match: "fs.read ", action: "deny" }] }, "rules.0.match"],
  [{ default: "auto", rules: [{ match: "fs.read", action: "block" }] }, "rules.0.action"],
  [{ default: "auto", rules: [{ match: "fs.read", action: "deny", if: {} }] }, "rules.0: unknown if"],
  ...[
    null,
    {},
    [],
    "device",
    { where: "device" },
    { target: "laptop" },
    { target: "gsv", tags: ["remote"] },
    { device: "" },
    { device: ["laptop"] },
    { profile: "" },
    { profile: 1 },
    { anyProfile: [] },
    { anyProfile: "task" },
    { anyTag: [] },
    { anyTag: "remote" },
    { anyTag: ["destructve"] },
    { anyTag: ["constructor"] },
    { allTags: [1] },
    { argEquals: {} },
    { argEquals: { path: null } },
    { argEquals: { path: ["a"] } },
    { argEquals: "path" },
    { argPrefix: {} },
    { argPrefix: { path: "" } },
    { argPrefix: { path: 1 } },
  ].map((when): [unknown, string] => [{ default: "auto", rules: [{ match: "fs.read", action: "auto", when }] }, "rules.0.when"]),
];

test("a policy with too many rules denies and says so", () => {
  const rules = Array.from({ length: 501 }, () => ({ match: "fs.*", action: "auto" }));
  expect(readPolicy(JSON.stringify({ default: "auto", rules: rules.slice(1) })).ok).toBe(true);
  const read = readPolicy(JSON.stringify({ default: "auto", rules }));
  expect(decide(read, judgeCall("fs.read", { path: "a" }))).toMatchObject({
    action: "deny",
    why: expect.stringContaining("rules: must be at most 500 rules") as string,
  });
});

test.each(UNREADABLE)("%j denies and says why", (policy, says) => {
  const read = readPolicy(typeof policy === "string" ? policy : JSON.stringify(policy));
  const { action, why } = decide(read, judgeCall("fs.read", { path: "a" }));
  expect(action).toBe("deny");
  expect(why).toContain(says);
});

test("a policy that names an unknown call is unreadable if the names of calls are known", () => {
  const text = JSON.stringify({ default: "auto", rules: [{ match: "shel.exec", action: "deny" }] });
  expect(readPolicy(text).ok).toBe(true);
  expect(readPolicy(text, (name) => name === "shell.exec")).toMatchObject({ ok: false, reason: expect.stringContaining("shel.exec") });
});

const action = fc.constantFrom<Action>("auto", "ask", "deny");
const tag = fc.constantFrom(...(Object.keys(TAGS) as Tag[]));
const call = fc.constantFrom("fs.read", "fs.write", "fs.delete", "shell.exec", "sys.config.set", "x.y");
const when = fc
  .record(
    {
      profile: fc.constantFrom("task", "cron"),
      target: fc.constantFrom("gsv" as const, "device" as const),
      anyTag: fc.array(tag, { minLength: 1, maxLength: 3 }),
      allTags: fc.array(tag, { minLength: 1, maxLength: 3 }),
      argEquals: fc.dictionary(fc.constantFrom("path", "input", "n"), fc.oneof(fc.string(), fc.integer(), fc.boolean()), { minKeys: 1 }),
      argPrefix: fc.dictionary(fc.constantFrom("path", "input"), fc.string({ minLength: 1 }), { minKeys: 1 }),
    },
    { requiredKeys: [] },
  )
  .filter((value) => Object.keys(value).length > 0);
const rule: fc.Arbitrary<Rule> = fc
  .tuple(fc.oneof(call, fc.constantFrom("fs.*", "sys.*", "shell.*", "x.*")), action, fc.option(when, { nil: undefined }))
  .map(([match, action, when]) => (when === undefined ? { match, action } : { match, action, when }) as Rule);
const policy: fc.Arbitrary<Policy> = fc.record({ default: action, rules: fc.array(rule, { maxLength: 8 }) });
const args = fc.oneof(
  fc.dictionary(fc.constantFrom("path", "input", "target", "n", "sessionId", "cwd", "__proto__"), fc.anything()),
  fc.record({ path: fc.string(), input: fc.string(), target: fc.constantFrom("gsv", "laptop", "local") }),
);
const request = fc.tuple(call, args).map(([call, args]) => judgeCall(call, args));

test("every policy decides every request and gives a reason", () => {
  fc.assert(
    fc.property(policy, request, (policy, request) => {
      const read = checkPolicy(JSON.parse(JSON.stringify(policy)));
      const decision = decide(read, request);
      expect(read.ok).toBe(true);
      expect(["auto", "ask", "deny"]).toContain(decision.action);
      expect(decision.why).not.toBe("");
      const { rule } = decision;
      expect(decision.action).toBe(rule === undefined ? policy.default : policy.rules[rule]!.action);
    }),
  );
});

test("rules that do not decide can be removed, and a rule after the deciding one changes nothing", () => {
  fc.assert(
    fc.property(policy, rule, request, (policy, extra, request) => {
      const { rule: decider, action } = decide({ ok: true, policy }, request);
      if (decider === undefined) return;
      const alone = { ...policy, rules: [policy.rules[decider]!] };
      expect(decide({ ok: true, policy: alone }, request).action).toBe(action);
      const isExact = !policy.rules[decider]!.match.endsWith(".*");
      const behind = { ...policy, rules: [...policy.rules, extra] };
      if (isExact || extra.match.endsWith(".*")) expect(decide({ ok: true, policy: behind }, request).action).toBe(action);
    }),
  );
});

test("families may be moved before or after exact names", () => {
  fc.assert(
    fc.property(policy, request, (policy, request) => {
      const isFamily = ({ match }: Rule) => match.endsWith(".*");
      const exact = policy.rules.filter((rule) => !isFamily(rule));
      const moved = { ...policy, rules: [...policy.rules.filter(isFamily), ...exact] };
      expect(decide({ ok: true, policy: moved }, request).action).toBe(decide({ ok: true, policy }, request).action);
    }),
  );
});

test("a text that is not a policy denies", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), request, (text, request) => {
      expect(decide(readPolicy(text), request).action).toBe("deny");
    }),
  );
});

test("a policy with one broken part denies, or decides as before", () => {
  const spoilt = fc.constantFrom<unknown>(null, 1, "", "allow", [], {}, ["x"], { x: 1 });
  fc.assert(
    fc.property(policy, spoilt, fc.nat(), request, (policy, bad, at, request) => {
      const broken = JSON.parse(JSON.stringify(policy)) as Policy & Record<string, unknown>;
      const spots: (() => void)[] = [
        () => (broken.default = bad as Action),
        () => (broken.rules = bad as Rule[]),
        () => (broken.more = bad),
      ];
      for (const rule of broken.rules) {
        spots.push(
          () => (rule.match = bad as string),
          () => (rule.action = bad as Action),
        );
        spots.push(
          () => (rule.when = { ...rule.when, more: bad } as Rule["when"]),
          () => (rule.when = bad as Rule["when"]),
        );
      }
      spots[at % spots.length]!();
      const read = checkPolicy(broken);
      // An empty list of rules is valid.
      if (
        Array.isArray(broken.rules) &&
        broken.rules.length === 0 &&
        !("more" in broken) &&
        typeof broken.default === "string" &&
        broken.default.length > 2
      )
        return;
      if (read.ok) expect(broken).toEqual(policy);
      else expect(decide(read, request).action).toBe("deny");
    }),
  );
});

test("the stricter of two decisions counts, and unattended turns ask into deny", () => {
  const decision = (action: Action) => ({ action, why: action });
  const order: Action[] = ["auto", "ask", "deny"];
  for (const [a, one] of order.entries())
    for (const [b, other] of order.entries()) expect(pickStricter(decision(one), decision(other)).action).toBe(order[Math.max(a, b)]);
  expect(order.map((action) => denyUnattended(decision(action)).action)).toEqual(["auto", "deny", "deny"]);
});
