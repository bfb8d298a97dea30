// Generates the data in docs/guides/approvals.md: the default policy, the tags it uses, and the places that hold secrets. Each is
// between a pair of comments; the rest of the guide is written by hand.

import { defaultPolicy } from "../../src/approval/defaults.ts";
import type { Rule } from "../../src/approval/policy.ts";
import { isTag, TAGS } from "../../src/approval/request.ts";
import { SECRETS } from "../../src/lib/secrets.ts";
import { filled } from "./filled.ts";

export const APPROVAL_GUIDE = "docs/guides/approvals.md";

export function approvalGuide(text: string): string {
  return filled(APPROVAL_GUIDE, text, { rules, tags, secrets });
}

const ACTION_TEXTS = { auto: "runs", ask: "needs approval", deny: "never runs" };

/** Rules with the same condition share a row. As in the policy, the first row that names a call and whose condition holds decides. */
function rules(): string {
  const result = defaultPolicy("init");
  if (!result.ok) throw new Error(result.reason);
  const rows: { says: string; calls: string[] }[] = [];
  for (const { match, when, action } of result.policy.rules) {
    const says = `${condition(when)} | ${ACTION_TEXTS[action]}`;
    const call = `\`${match}\``;
    const at = rows.findIndex((row) => row.says === says);
    // A rule may not move before another row about the same call.
    if (at === -1 || rows.slice(at + 1).some(({ calls }) => calls.includes(call))) rows.push({ says, calls: [call] });
    else rows[at]!.calls.push(call);
  }
  const lines = rows.map(({ says, calls }) => `| ${calls.join(" ")} | ${says} |`);
  return [
    "| call | where | what happens |",
    "| --- | --- | --- |",
    ...lines,
    `| any other | | ${ACTION_TEXTS[result.policy.default]} |`,
  ].join("\n");
}

function condition(when: Rule["when"]): string {
  if (when === undefined) return "";
  const { anyTag = [], target, argEquals = {} } = when;
  const parts = [
    ...anyTag.map((tag) => (isTag(tag) ? TAGS[tag] : tag)),
    ...(target === undefined ? [] : [target === "device" ? "on a device" : "on the gateway"]),
    ...Object.entries(argEquals).map(([name, value]) => `\`${name}\` is \`${value}\``),
  ];
  return parts.join("; or ");
}

function tags(): string {
  return [
    "| tag | what it says of a call |",
    "| --- | --- |",
    ...Object.entries(TAGS).map(([tag, says]) => `| \`${tag}\` | ${says} |`),
  ].join("\n");
}

function secrets(): string {
  const rows = SECRETS.map(
    ([holds, places]) =>
      `| ${holds} | ${places
        .split(/\s+/)
        .map((place) => `\`${place}\``)
        .join(" ")} |`,
  );
  return ["| what | names |", "| --- | --- |", ...rows].join("\n");
}
