// Tells a user of the questions of their agents: clients that list them, and by a notification, which goes when the question is closed.

import { SUBJECT_CHARS_MAX } from "../../approval/asked-call.ts";
import { titleQuestion } from "../../approval/question-words.ts";
import { formatBody } from "../../approval/show.ts";
import { shorten } from "../../lib/shorten.ts";
import type { WriteContext } from "../context.ts";
import { BODY_CHARS_MAX, dismissAbout, type NotifyNouns, notify, openProcess } from "../notifications/notify.ts";
import type { Approval } from "../nouns/approvals.ts";
import { nameOfProcess } from "./question-records.ts";

const NAME_CHARS_MAX = 40;

type Nouns = NotifyNouns & Pick<WriteContext, "processes">;

/** The title is the gateway's own; the name, which another agent may have given, comes last. */
export function announceQuestion(nouns: Nouns, question: Approval): void {
  const { uid, pid, kind, requestId, syscall, args, target, cwd, why, expiresAt } = question;
  const { processes, emit, after, now } = nouns;
  const body = formatBody({ call: syscall, args, target, cwd });
  // A name is one short line, which cannot pass for more of the question.
  const name = shorten(nameOfProcess(processes, pid), NAME_CHARS_MAX);
  const text = kind === "budget" ? why : `${body.text}\nAsked by ${name}`;
  const mayAllow = body.isWhole && text.length <= BODY_CHARS_MAX && target.length <= SUBJECT_CHARS_MAX;
  const answers = [
    { kind: "approve", label: "Allow", target: requestId },
    { kind: "deny", label: "Deny", target: requestId },
  ];
  after(() => emit.announceChanges(uid, ["approvals"]));
  notify(nouns, uid, {
    topic: kind === "budget" ? "budgets" : "approvals",
    title: kind === "budget" ? `${name} has used up its budget` : `${titleQuestion(question)}?`,
    body: text,
    level: "warning",
    pid,
    // Nobody approves what they have not been shown whole.
    actions: [openProcess(pid), ...(mayAllow ? answers : answers.slice(1))],
    about: aboutQuestion(requestId),
    ttlMs: expiresAt - now,
  });
}

/** They were answered or withdrawn, or have expired. */
export function announceClosedQuestions(nouns: Nouns, uid: number, requestIds: readonly string[]): void {
  if (requestIds.length === 0) return;
  const { emit, after } = nouns;
  after(() => emit.announceChanges(uid, ["approvals"]));
  for (const requestId of requestIds) dismissAbout(nouns, uid, aboutQuestion(requestId));
}

export function aboutQuestion(requestId: string): string {
  return `question:${requestId}`;
}
