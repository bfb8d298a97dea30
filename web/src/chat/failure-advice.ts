// What a user can do about a failed run, chosen by its error message: words, and the settings that can mend it. Only what the reader
// may do is advised.

import type { Path } from "../frame/route.ts";
import { mayCall, session } from "../state/session.ts";

export type FailureAdvice = { words: string; settings: { path: Path; label: string } | null };
/** Who may follow it: those who may change their settings, or only root. */
type Reader = "owner" | "root" | "anybody";
type Row = { when: RegExp; words: string; others: string; reader: Reader; path: Path | null };

const ASK_ROOT = "Ask whoever runs this gateway.";
const ROWS: readonly Row[] = [
  {
    when: /\b(?:401|403|key|unauthori[sz]ed|forbidden|credential)/i,
    words: "The provider refused the key. Check the key and the provider in Settings, then retry.",
    others: `The provider refused the key. ${ASK_ROOT}`,
    reader: "owner",
    path: "/settings/ai",
  },
  {
    when: /\b(?:429|rate|quota|overloaded|capacity)/i,
    words: "The provider is busy or its quota is used up. Wait a little and retry, or choose another model below.",
    others: "",
    reader: "anybody",
    path: null,
  },
  {
    when: /context|too (?:long|large|full)|compact/i,
    words: "The conversation is too long for the model. Compact older messages from the menu above, or start a new conversation.",
    others: "",
    reader: "anybody",
    path: null,
  },
  {
    when: /budget|limit/i,
    words: "A budget is used up. Raise it in Settings, then retry.",
    others: `A budget is used up. ${ASK_ROOT}`,
    reader: "root",
    path: "/settings/budgets",
  },
  {
    when: /timed? ?out|reach|network|connect|refused|ENOTFOUND|ECONN/i,
    words: "The model's server could not be reached. Check its address in Settings and whether it runs, then retry.",
    others: "The model's server could not be reached. Retry in a while.",
    reader: "owner",
    path: "/settings/ai",
  },
];

export function adviseOnFailure(text: string): FailureAdvice {
  const row = ROWS.find(({ when }) => when.test(text));
  if (row === undefined) return { words: "Retry. If it fails again, choose another model below.", settings: null };
  if (!mayFollow(row.reader)) return { words: row.others, settings: null };
  return { words: row.words, settings: row.path === null ? null : { path: row.path, label: "Open settings" } };
}

function mayFollow(reader: Reader): boolean {
  if (reader === "anybody") return true;
  return mayCall("sys.config.set") && (reader === "owner" || session.peek()?.identity.process.uid === 0);
}
