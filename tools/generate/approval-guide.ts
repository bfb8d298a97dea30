// What of docs/guides/approvals.md is data: the policy where nobody wrote one, the tags it goes by, and the places that hold
// secrets. Each stands between a pair of comments, and everything else in the guide is written by hand.

import { defaultPolicy } from "../../src/approval/defaults.ts";
import type { Rule } from "../../src/approval/policy.ts";
import { isTag, TAGS } from "../../src/approval/request.ts";
import { SECRETS } from "../../src/lib/secrets.ts";
import { filled } from "./filled.ts";

export const APPROVAL_GUIDE = "docs/guides/approvals.md";

export function approvalGuide(text: string): string {
  return filled(APPROVAL_GUIDE, text, { rules, tags, secrets });
}

const SAYS = { auto: "runs", ask: "is asked about", deny: "never runs" };

/** Rules with the same conditions share a row. Of the rows that name a call, the first whose condition holds counts, as in the policy. */
function rules(): string {
  const read = defaultPolicy("init");
  if (!read.ok) throw new Error(read.reason);
  const rows: { says: string; calls: string[] }[] = [];
  for (const { match, when, action } of read.policy.rules) {
    const says = `${condition(when)} | ${SAYS[action]}`;
    const call = `\`${match}\``;
    const at = rows.findIndex((row) => row.says === says);
    // An earlier row may not overtake another one about the same call.
    if (at === -1 || rows.slice(at + 1).some(({ calls }) => calls.includes(call))) rows.push({ says, calls: [call] });
    else rows[at]!.calls.push(call);
  }
  const lines = rows.map(({ says, calls }) => `| ${calls.join(" ")} | ${says} |`);
  return ["| call | where | what happens |", "| --- | --- | --- |", ...lines, `| any other | | ${SAYS[read.policy.default]} |`].join("\n");
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
