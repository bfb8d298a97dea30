// Reads whether a machine should be connected, and whether the administrator gets a password of its own.

import { isNegated, isQuestion, type Reading, type Sentence, setField } from "./sentence.ts";

const MACHINE = "machine|device|computer|laptop|server|desktop|pc|mac|macbook|notebook|workstation|raspberry pi";

export function readMachine({ text }: Sentence): Reading | null {
  if (isQuestion(text)) return null;
  if (new RegExp(String.raw`\b(?:no|without an?|not an?y?|don['’]t (?:connect|add)(?: an?y?| my)?) (?:${MACHINE})s?\b`, "iu").test(text))
    return { says: "No machine for now. You can connect one later.", patches: [setField("device.enabled", false)] };
  const named = new RegExp(String.raw`\b(?:${MACHINE})\s+(?:is\s+)?(?:called|named)\s+["“']?([\w.-]{1,64})`, "iu").exec(text)?.[1];
  const wanted = new RegExp(String.raw`\b(?:connect|add|attach|link)\b.*?\b(${MACHINE})\b`, "iu").exec(text)?.[1];
  if ((named === undefined && wanted === undefined) || isNegated(text)) return null;
  // "my server called mistral" may be the model server.
  if (wanted === undefined && /\b(?:model|llm|api|ai)\b/iu.test(text)) return null;
  const name = (named ?? nameOf(wanted!)).replace(/[.,-]+$/, "");
  return {
    says: `After set-up you get a command that connects ${name}.`,
    patches: [setField("device.enabled", true), setField("device.deviceId", name)],
    focus: "device.deviceId",
  };
}

export function readAdministrator({ text }: Sentence): Reading | null {
  if (isQuestion(text)) return null;
  if (/\bsame (?:admin|root|administrator|password)\b|\bpassword\b.*\bsame\b/iu.test(text))
    return { says: "The administrator, root, gets your password.", patches: [setField("admin.mode", "same")] };
  const separate = /\b(?:separate|own|different|another|second|extra)\s+(?:password\s+for\s+)?(?:the\s+)?(?:admin|root|administrator)\b/iu;
  if (!separate.test(text) || isNegated(text)) return null;
  return {
    says: "The administrator gets a separate password. Enter it in the form.",
    patches: [setField("admin.mode", "custom")],
    focus: "admin.password",
  };
}

function nameOf(kind: string): string {
  return /^(?:laptop|server|desktop|pc|mac|macbook|notebook|workstation)$/iu.test(kind) ? kind.toLowerCase() : "laptop";
}
