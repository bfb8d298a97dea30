// What the readers of a person's sentence share: the sentence with its context, and what a reader makes of it.

import type { OnboardingAssistPatch, OnboardingDraft } from "../../../protocol/onboarding.ts";

/** What the guide's last message asked for; null if it asked for nothing in particular. */
export type Topic = "name" | "place" | "model";

export type Sentence = {
  text: string;
  draft: OnboardingDraft;
  /** What a bare answer such as "Ada" or "Porto" is about. */
  topic: Topic | null;
  isQuestion: boolean;
  /** The gateway's own model is the demo. */
  isDemo: boolean;
};

/** The reply, the changes to the form, and the field to focus next. */
export type Reading = { says: string; patches: OnboardingAssistPatch[]; focus?: string; asks?: Topic };

export type Reader = (sentence: Sentence) => Reading | null;

const QUESTION =
  /\?\s*$|^\s*(?:so,?\s+|and\s+|but\s+)?(?:what|what's|whats|why|how|is|are|does|do|did|can|could|where|where's|who|who's|which|will|would|should|when|may)\b/iu;
const NEGATION = /\b(?:not|no|never|without|hate|except|nothing|neither|nor|stop|avoid|instead of|rather than)\b|n['’]t\b|\bdont\b/iu;

export function isQuestion(text: string): boolean {
  return QUESTION.test(text);
}

/** The parts of a text that stand for themselves: a negation in one does not reach the next. */
export function splitClauses(text: string): string[] {
  return text.split(/[,;!?]\s+|[.!?]+(?:\s+|$)|\s+(?:but|then|however)\s+|\s+-\s+/iu).filter((clause) => clause.trim() !== "");
}

export function isNegated(text: string): boolean {
  return NEGATION.test(text);
}

export function setField(path: OnboardingAssistPatch["path"], value: string | boolean): OnboardingAssistPatch {
  return { op: "set", path, value };
}
