// The demo model as the set-up guide: no AI, a handful of fixed sentences. It answers in the JSON that every guide must use
// (kernel/setup/guide.ts), so that set-up by chat can be shown and tested without a key.

import { DEMO_LABEL } from "./demo.ts";
import { PROVIDERS } from "./providers.ts";

type Message = { role: "user" | "assistant"; content: string };
type Draft = {
  account: { username: string };
  admin: { mode: string };
  ai: { enabled: boolean; provider: string };
  device: { enabled: boolean; deviceId: string };
};
type Patch = { op: "set" | "clear"; path: string; value?: string | boolean };
/** What one sentence asks for: the reply, the changes, and the field to focus next. */
type Interpretation = { says: string; patches: Patch[]; focus?: string };

export function answerAsDemoGuide({ draft, messages }: { draft: Draft; messages: readonly Message[] }): string {
  const sentence = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const moves = [parseName, parseTimezone, parseAdmin, parseProvider, parseMachine].flatMap((read) => read(sentence) ?? []);
  const patches = moves.flatMap((move) => move.patches);
  const username = patches.find(({ path }) => path === "account.username")?.value ?? draft.account.username;
  const following = nextStep(username === "", sentence === "" || moves.length > 0);
  const message = [DEMO_LABEL, ...moves.map(({ says }) => says), following.says].join(" ");
  const focus = moves.findLast((move) => move.focus !== undefined)?.focus ?? following.focus;
  return JSON.stringify({ message, patches, reviewReady: username !== "", focus });
}

function nextStep(needsName: boolean, isUnderstood: boolean): { says: string; focus: string } {
  if (!isUnderstood)
    return {
      says: 'I understand sentences such as "call me ada", "I live in Lisbon", "use Ollama", "a separate admin password" and "connect a machine called laptop".',
      focus: needsName ? "account.username" : "account.password",
    };
  if (needsName) return { says: "What should you be called here?", focus: "account.username" };
  return { says: "Type your password into the form yourself; everything else can stay as it is.", focus: "account.password" };
}

function parseName(sentence: string): Interpretation | null {
  const found = /\b(?:call me|my name is|i am called|i'm called|user ?name(?: is| should be)?|name me)\s+["']?([\p{L}\d_-]+)/iu.exec(
    sentence,
  )?.[1];
  if (found === undefined) return null;
  const value = found
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, "")
    .replace(/^[^a-z_]+/, "")
    .slice(0, 32);
  return value === "" ? null : { says: `You will be ${value}.`, patches: [{ op: "set", path: "account.username", value }] };
}

function parseTimezone(sentence: string): Interpretation | null {
  const place = /\b(?:live in|living in|i am in|i'm in|from|time ?zone(?: is| of)?(?: in)?)\s+([\p{L}/_ -]{2,40})/iu.exec(sentence)?.[1];
  const wanted = (place ?? "").trim().toLowerCase().replaceAll(/[ -]+/g, "_");
  if (wanted === "") return null;
  const zone = Intl.supportedValuesOf("timeZone").find((name) => {
    const whole = name.toLowerCase();
    const city = whole.slice(whole.lastIndexOf("/") + 1);
    return wanted === whole || wanted === city || wanted.startsWith(`${city}_`);
  });
  if (zone === undefined) return { says: "I do not know that time zone: search for a large city near you in the form.", patches: [] };
  return { says: `The time zone is ${zone}.`, patches: [{ op: "set", path: "system.timezone", value: zone }] };
}

function parseAdmin(sentence: string): Interpretation | null {
  if (/\bsame (?:admin|root|password)/i.test(sentence))
    return { says: "The administrator gets your password.", patches: [{ op: "set", path: "admin.mode", value: "same" }] };
  if (!/\b(?:separate|own|different|another) (?:admin|root|administrator)/i.test(sentence)) return null;
  const patches: Patch[] = [{ op: "set", path: "admin.mode", value: "custom" }];
  return { says: "The administrator gets a separate password, which you type into the form.", patches, focus: "admin.password" };
}

function parseProvider(sentence: string): Interpretation | null {
  if (/\b(?:demo|no ai|without (?:an? )?(?:ai|key))\b/i.test(sentence))
    return { says: "No key is needed, then.", patches: [{ op: "set", path: "ai.enabled", value: false }] };
  const words = sentence
    .toLowerCase()
    .replaceAll("claude", "anthropic")
    .replaceAll("gemini", "google")
    .replaceAll(/chatgpt|\bgpt\b/g, "openai");
  const found = Object.entries(PROVIDERS).find(
    ([id, { title }]) => !id.includes("-") && (new RegExp(`\\b${id}\\b`).test(words) || words.includes(title.toLowerCase())),
  );
  if (found === undefined) return null;
  const [id, { title, needsKey }] = found;
  const patches: Patch[] = [
    { op: "set", path: "ai.enabled", value: true },
    { op: "set", path: "ai.provider", value: id },
  ];
  const then = needsKey ? "Paste its key into the form and test it there." : "Test it in the form.";
  return { says: `I chose ${title}. ${then}`, patches, focus: needsKey ? "ai.apiKey" : "ai.model" };
}

function parseMachine(sentence: string): Interpretation | null {
  if (/\bno (?:machine|device|computer)\b/i.test(sentence))
    return { says: "No machine for now.", patches: [{ op: "set", path: "device.enabled", value: false }] };
  const found = /\b(?:machine|device|computer|laptop|server)\s+(?:called|named)\s+["']?([\w.-]{1,64})/i.exec(sentence)?.[1];
  if (found === undefined && !/\b(?:connect|add)\b.*\b(?:machine|device|computer|laptop|server)\b/i.test(sentence)) return null;
  const name = found ?? "laptop";
  const patches: Patch[] = [
    { op: "set", path: "device.enabled", value: true },
    { op: "set", path: "device.deviceId", value: name },
  ];
  return { says: `After set-up you get the line that connects ${name}.`, patches, focus: "device.deviceId" };
}
