// Answers the questions of a person who sets up a gateway, from facts: docs/guides/approvals.md, models.md, operating.md. Each must
// be true of both hosts and of the default settings.

import type { Reading, Reader } from "./sentence.ts";

type Fact = { asked: RegExp; says: string; focus?: string };

/** The first one that matches answers. */
const FACTS: readonly Fact[] = [
  {
    asked:
      /\b(?:without (?:asking|permission|approval|my (?:ok|yes))|(?:agents?|it|ai) (?:be )?(?:do|allowed|may|can)\b.*\b(?:ask|alone|itself|own|allowed|permission|do)\b|can (?:agents?|it|they|the ai) (?:do|delete|run|change|access|read|write|see|break|destroy)|what (?:can|may) (?:agents?|they|it)\b|need(?:s)? (?:my )?(?:approval|permission|ok)|permissions?\b|approvals?\b)/iu,
    says: "Without asking, agents read files, also on machines you connect, write in your home folder and workspaces on this gateway, and run commands there. They ask before any command or change on your machines, and before they delete, use the network or read files that usually hold secrets, such as SSH keys. You see the exact command and decide.",
  },
  {
    asked: /\b(?:safe|safety|secure|security|trust|dangerous|risks?|risky|harm|hacked?|attack(?:ed|er)?|malware|virus)\b/iu,
    says: "Agents ask before they run a command on your machines, delete something or use the network, and you see the exact command. Without asking, they read files, also on machines you connect, and run commands in their own folders on this gateway. Settings, Permissions changes that. Passwords are stored as hashes and keys encrypted. Agents can still be wrong: read what they ask before you allow it.",
  },
  {
    asked:
      /\b(?:costs?|price|pricing|pay(?:ing|ment)?|expensive|cheap|bill(?:ed|ing)?|charge[sd]?|subscription|fees?|free|how much(?! time))\b/iu,
    says: "GSV is free and open source. The demo and models on your own machines cost nothing; a provider bills you for what its models process. You can set limits in Settings, and at a limit the agent pauses and asks you.",
  },
  {
    asked:
      /\b(?:where\b.*\b(?:data|files?|conversations?|chats?|stored?|saved?|kept|password)|(?:my|the) data\b|privacy|private|who (?:can |could )?(?:see|read|access)s?|(?:send|sends|sent|upload|share|leak|collect|track|spy)\w*\b|telemetry|analytics|gdpr|data\b.*\b(?:go|stored?|kept))/iu,
    says: "Your data stays on this gateway: files, conversations and settings are stored where it runs, and whoever runs its machine can read them. GSV reports nothing to its makers. The model you choose receives what agents send it. With a model server of your own, that stays with you too.",
  },
  {
    asked:
      /\b(?:change|undo|edit|switch|correct)\b.*\b(?:later|again|mind|afterwards?|anytime|any time)\b|\b(?:can|could) i\b.*\blater\b/iu,
    says: "Yes. You can change the model, the time zone, passwords and machines later. Only your name stays.",
  },
  {
    asked: /\bhow long\b|\bhow much time\b|\btake long\b/iu,
    says: "About a minute: a name, a password, and a look at the review.",
  },
  {
    asked:
      /\b(?:which|what|best|recommend\w*|should i)\b.*\b(?:models?|ai|llm|provider)\b.*\b(?:choose|use|take|pick|best|recommend\w*|better|good|should)|\b(?:recommend|suggest)\w*\b.*\b(?:model|provider|ai)\b|\bwhich (?:model|provider|ai)\b|\bbest (?:model|provider|ai)\b/iu,
    says: "If you have a key from a provider such as Anthropic, OpenAI or Google, use that. If nothing may leave your machines, run a model with Ollama. If you are unsure, start with the model that is already selected and change it later.",
    focus: "ai.provider",
  },
  {
    asked:
      /\b(?:where|how)\b.*\b(?:get|find|make|create|buy)\b.*\bkeys?\b|\bwhat(?:['’]?s| is| are)\b.*\b(?:api )?keys?\b|\bwhy\b.*\bkey\b/iu,
    says: "A key lets this gateway use your account at a provider. You make it on the provider's website: choose the provider in the form, and the address is below the key field.",
    focus: "ai.provider",
  },
  {
    asked: /\b(?:forg[eo]t\w*|lost|lose|reset|recover)\b.*\bpassword\b|\bpassword\b.*\b(?:forg[eo]t\w*|lost|lose|reset|recover)\b/iu,
    says: "The administrator, root, can set a new password for you. Keep root's password in a safe place.",
    focus: "account.password",
  },
  {
    asked: /\bpasswords?\b.*\b(?:long|good|strong|rules?|need|how many|short|require)\w*|\b(?:why|what|how)\b.*\bpassword\b/iu,
    says: "At least 8 characters; a few unrelated words are best. It is stored only as a hash.",
    focus: "account.password",
  },
  {
    asked: /\b(?:what|who|why)\b.*\b(?:root|admin|administrator)\b/iu,
    says: "root is the administrator: root adds people and changes gateway settings. Use your own account for everything else.",
    focus: "admin.mode",
  },
  {
    asked: /\b(?:what|why|which)\b.*\b(?:machines?|devices?)\b/iu,
    says: "A machine is a laptop or server that you connect. Agents can then read its files. They ask before they run commands or change anything.",
    focus: "device.enabled",
  },
  {
    asked: /\b(?:what|why)\b.*\btime ?zone\b/iu,
    says: "Agents tell the time by it, and schedules follow it. Your browser's time zone is already filled in.",
    focus: "system.timezone",
  },
  {
    asked: /\bwhat(?:['’]?s| is)\b.*\bdemo\b|\bdemo\b.*\b(?:what|mean|can)\b/iu,
    says: "The demo is not an AI. It understands a few fixed requests, so that you can see how agents work here without a key.",
  },
  {
    asked:
      /\bwhat(?:['’]?s| is| are)\b.*\b(?:ollama|lm ?studio|llama\.?cpp|vllm|local (?:model|server)|model server|openai[- ]compatible)\b/iu,
    says: "Programs such as Ollama run AI models on a computer of yours, so what you write stays with you. The form finds one that runs on the gateway's machine.",
    focus: "ai.provider",
  },
  {
    asked: /\b(?:offline|without (?:the )?internet|no internet)\b/iu,
    says: "Yes, with a model that runs on your own machines. The gateway itself needs no internet.",
  },
  {
    asked: /\bwho are you\b|\bare you (?:an? )?(?:ai|bot|human|real|person|robot|model)\b|\bwhat are you\b/iu,
    says: "I am the set-up guide. I answer from fixed rules, not with an AI, and I only fill in this form.",
  },
  {
    asked:
      /^\s*(?:so,?\s+)?(?:what(?:['’]?s|s| is| does)|explain|tell me (?:about|what))\b.*\b(?:this|it|gsv|that|here|about)\b|^\s*what\s*\?+\s*$|\bwhat (?:can|does) (?:it|this|gsv) do\b|\bwhat am i (?:doing|setting)/iu,
    says: "GSV lets AI agents work for you on machines you own. You talk to them here or in a terminal; they read and change files and run commands, and ask you before anything risky. This page creates your account.",
  },
];

/** Only sentences that ask: "it should be safe" is none. */
export const readQuestion: Reader = ({ text, isQuestion }): Reading | null => {
  if (!isQuestion && !/^\s*(?:explain|tell me)\b/iu.test(text)) return null;
  const fact = FACTS.find(({ asked }) => asked.test(text));
  return fact === undefined ? null : { says: fact.says, patches: [], ...(fact.focus === undefined ? {} : { focus: fact.focus }) };
};
