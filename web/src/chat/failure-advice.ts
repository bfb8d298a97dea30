// What a user can do about a failed run, chosen by its error message.

const ADVICE: [RegExp, string][] = [
  [/\b(?:401|403|key|unauthori[sz]ed|forbidden|credential)/i, "Check the key and the provider in Settings, then send the message again."],
  [
    /\b(?:429|rate|quota|overloaded|capacity)/i,
    "The provider wants a pause. Wait a little and send the message again, or choose another model.",
  ],
  [
    /context|too (?:long|large|full)|compact/i,
    "The conversation is too long for the model. Compact it from the menu above, or start a new one.",
  ],
  [/budget|limit/i, "The budget is used up. Raise it in Settings, or start a new task."],
  [
    /timed? ?out|reach|network|connect|refused|ENOTFOUND|ECONN/i,
    "The model's server could not be reached. Check its address and your network, then try again.",
  ],
];

export function adviseOnFailure(text: string): string {
  return ADVICE.find(([pattern]) => pattern.test(text))?.[1] ?? "Send the message again. If it fails again, try another model in Settings.";
}
