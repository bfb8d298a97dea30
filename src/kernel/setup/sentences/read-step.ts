// Reads where in the form a person wants to be, and answers that skip a step.

import { type Reading, type Sentence, setField } from "./sentence.ts";

const PLACES: readonly [words: RegExp, focus: string, name: string][] = [
  [/\b(?:admin|administrator|root)\b/iu, "admin.mode", "the administrator"],
  [/\bpassword\b/iu, "account.password", "the password"],
  [/\b(?:user ?name|name|account)\b/iu, "account.username", "your name"],
  [/\btime ?zone\b/iu, "system.timezone", "the time zone"],
  [/\b(?:models?|ai|provider|key|llm)\b/iu, "ai.provider", "the model"],
  [/\b(?:machine|device|computer)\b/iu, "device.enabled", "your machine"],
];
const GO =
  /^\s*(?:please\s+)?(?:(?:can|could) (?:you|i|we)\s+)?(?:go|back|jump|take me|bring me|show(?: me)?|open|change|edit|set|fix|enter|let me (?:change|edit|enter|type))\b/iu;
const DONE =
  /^\s*(?:(?:i am|i['’]?m|we are|that['’]?s|that is|all) )?(?:done|finished|ready|all|it|everything|set)(?: set)?\s*[.!]*\s*$|\b(?:go to|show(?: me)?|open|take me to)\b.*\b(?:review|summary|end)\b|^\s*(?:review|summary|finish)\s*[.!]*\s*$/iu;
const SKIP =
  /^\s*(?:(?:just\s+)?skip(?: (?:it|this|that))?|no idea|(?:i )?don['’]?t know|i dunno|dunno|idk|whatever|you (?:choose|decide|pick)|(?:it )?doesn['’]?t matter|don['’]?t care|not sure|(?:i['’]?m|i am) not sure|no|nope|none|keep it|leave it(?: as it is)?|as it is|next)\s*[.!]*\s*$/iu;

export function readStep({ text, draft }: Sentence): Reading | null {
  if (SKIP.test(text)) return skipStep(draft.detailStep);
  if (DONE.test(text)) return { says: "Here is the review.", patches: [], focus: "review" };
  if (!GO.test(text)) return null;
  const place = PLACES.find(([words]) => words.test(text));
  return place === undefined ? null : { says: `Here is ${place[2]}.`, patches: [], focus: place[1] };
}

/** What stays if the person has no opinion about the step on the screen. */
function skipStep(step: Sentence["draft"]["detailStep"]): Reading {
  switch (step) {
    case "admin":
      return { says: "The administrator, root, gets your password.", patches: [setField("admin.mode", "same")] };
    case "system":
      return { says: "The time zone stays as your browser reports it.", patches: [] };
    case "ai":
      return { says: "The gateway's own model answers. You can choose another one later.", patches: [setField("ai.enabled", false)] };
    case "device":
      return { says: "No machine for now. You can connect one later.", patches: [setField("device.enabled", false)] };
    case "account":
    case "source":
      return { says: "Only a name and a password are needed; everything else can stay as it is.", patches: [] };
  }
}
