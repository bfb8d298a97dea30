// Reads which model should answer: "use my local Ollama with qwen3", "I have an Anthropic key", "OpenAI-compatible at
// http://10.0.0.5:8000/v1", "just let me try".

import { isHttpUrl } from "../../../lib/http-url.ts";
import { PROVIDERS } from "../../../models/providers.ts";
import { isNegated, isQuestion, type Reading, type Sentence, setField, splitClauses } from "./sentence.ts";

/** Servers that people run themselves come first: "deepseek on Ollama" is Ollama. */
const MENTIONS: readonly [id: string, pattern: RegExp][] = [
  ["ollama", /\bollama\b/iu],
  ["lmstudio", /\blm[ -]?studio\b/iu],
  ["llamacpp", /\bllama\.?cpp\b|\bllama[- ]server\b/iu],
  ["vllm", /\bvllm\b/iu],
  ["openai-compatible", /\bopenai[- ]?(?:compatible|style|like)\b|\bcompatible with openai\b/iu],
  ["openrouter", /\bopen ?router\b/iu],
  ["anthropic", /\banthropic\b|\bclaude\b/iu],
  ["openai", /\bopen ?ai\b|\bchat ?gpt\b|\bgpt(?:-?\d[\w.-]*)?\b/iu],
  ["google", /\bgemini\b|\bgoogle (?:ai|api|key|model|models)\b|\b(?:use|choose|take|prefer|want|with) google\b|^\s*google\s*$/iu],
  ["deepseek", /\bdeep ?seek\b/iu],
  ["groq", /\bgroq\b/iu],
  ["xai", /\bgrok\b|\bxai\b|\bx\.ai\b/iu],
];
/** Somebody who mentions a provider need not want it. */
const WANTED =
  /\b(?:use|using|uses|choose|pick|prefer|take|try|want|like|have|got|has|own|run|runs|running|host|hosting|installed|switch|connect|go with|set|subscribe|subscription|key|account|with|via|through|on|at|please|let's|lets|answer|model|server|local|my)\b/iu;
const UNRELATED =
  /\b(?:friend|brother|sister|colleague|boss|employer|company|works? (?:at|for)|working (?:at|for)|worked (?:at|for)|heard|read about|news|article)\b/iu;
const WORDS_OF_AN_ANSWER = 4;

const ADDRESS_CHARS_MAX = 250;
const URL_PATTERN = /https?:\/\/[^\s"'<>]+/iu;
const ABOUT_A_SERVER = /\b(?:compatible|server|endpoint|model|llm|api|use|base ?url|address|ollama|llama|vllm|lm ?studio)\b/iu;
/** The name of a model, as servers write it: "qwen3", "llama3.2:3b", "claude-sonnet-4-5", "mistral:latest". */
const MODEL =
  /\b(?:qwen|llama|mistral|mixtral|ministral|gemma|phi|deepseek|gpt|claude|gemini|grok|codellama|devstral|magistral|granite|smollm|command-r|o\d)(?=[\w.:/-]{0,80}[\d:])[\w.:/-]{0,80}\w\b/iu;
const NAMED_MODEL = /\bmodel\s+(?:is\s+|named\s+|called\s+|=\s*)?["“']?([a-z][\w./-]{0,60}[\d:-][\w.:/-]{0,60})/iu;

/** The gateway's own model is wanted, whatever the question was. */
const OWN =
  /\bdemo\b|\b(?:let me|just|wanna|want to|like to)\s+(?:just\s+)?(?:try|play|test|see)\b|\btry (?:it|this)(?: out)?(?: first)?\b|\b(?:built[- ]?in|gateway['’]?s(?: own)?|default) model\b|\b(?:no|without) (?:an? |any )?(?:ai|api key|key)\b|\b(?:don['’]?t|do not) have (?:an? |any )?(?:(?:ai|api) )?(?:key|model)s?\b/iu;

export function readModel(sentence: Sentence): Reading | null {
  return readServerUrl(sentence) ?? readProvider(sentence) ?? readOwnModel(sentence) ?? readModelName(sentence);
}

function readServerUrl({ text }: Sentence): Reading | null {
  const found = URL_PATTERN.exec(text)?.[0].replace(/[.,;:!?)\]]+$/, "");
  if (found === undefined || isNegated(text.slice(0, text.indexOf(found)))) return null;
  const isAlone = text.trim() === found;
  if (!isAlone && !ABOUT_A_SERVER.test(text.replace(found, "")) && !/\/v1\/?$/.test(found)) return null;
  if (found.length > ADDRESS_CHARS_MAX || !isHttpUrl(found))
    return {
      says: "I cannot use this address. Leave out names and passwords, and enter a key in its own field.",
      patches: [],
      focus: "ai.provider",
    };
  const id = findMention(text.replace(found, "")) ?? "openai-compatible";
  const isLocal = PROVIDERS[id]?.local !== undefined;
  const provider = isLocal ? id : "openai-compatible";
  const baseUrl = provider === "openai-compatible" ? found : withVersion(found);
  const model = findModelName(text.replace(found, ""));
  return {
    says: `The model server is ${baseUrl}${model === null ? "" : `, the model ${model}`}. Test it in the form.`,
    patches: [setField("ai.enabled", true), setField("ai.provider", provider), setField("ai.baseUrl", baseUrl), ...patchModel(model)],
    focus: "ai.model",
  };
}

/** These servers answer under /v1. */
function withVersion(address: string): string {
  const { pathname } = new URL(address);
  return pathname === "/" ? `${address.replace(/\/$/, "")}/v1` : address;
}

function readProvider({ text }: Sentence): Reading | null {
  // "What is Ollama?" asks; "can I use Ollama?" chooses.
  if (isQuestion(text) && !/\b(?:can|could|may|should) (?:i|we|you)\b.*\b(?:use|run|choose|take|connect|have)\b/iu.test(text)) return null;
  for (const clause of splitClauses(text)) {
    const id = findMention(clause);
    if (id === null || isNegated(clause) || UNRELATED.test(clause)) continue;
    if (clause.trim().split(/\s+/).length > WORDS_OF_AN_ANSWER && !WANTED.test(clause)) continue;
    return makeProviderReading(id, findModelName(text));
  }
  return null;
}

function makeProviderReading(id: string, model: string | null): Reading {
  const patches = [setField("ai.enabled", true), setField("ai.provider", id), ...patchModel(model)];
  if (id === "openai-compatible")
    return { says: "Enter the address of your OpenAI-compatible server, such as http://10.0.0.5:8000/v1.", patches, focus: "ai.baseUrl" };
  const { title, needsKey } = PROVIDERS[id]!;
  const chosen = `${title} answers${model === null ? "" : ` with ${model}`}.`;
  return needsKey
    ? { says: `${chosen} Paste its key into the form and test it there.`, patches, focus: "ai.apiKey" }
    : { says: `${chosen} Test it in the form.`, patches, focus: "ai.model" };
}

function readOwnModel({ text, isDemo, isQuestion: asks }: Sentence): Reading | null {
  if (asks || !OWN.test(text) || /\b(?:not|n['’]t)\s+(?:want\s+|use\s+|like\s+)*(?:the\s+)?demo\b/iu.test(text)) return null;
  const says = isDemo
    ? "The demo answers for now: it needs no key, and you can choose a model later."
    : "The gateway's own model answers. It needs no key.";
  return { says, patches: [setField("ai.enabled", false)] };
}

/** A model without a server is one of the chosen server. */
function readModelName({ text, draft, topic, isQuestion: asks }: Sentence): Reading | null {
  const model = asks || isNegated(text) ? null : findModelName(text);
  if (model === null || (!WANTED.test(text) && topic !== "model" && text.trim().split(/\s+/).length > WORDS_OF_AN_ANSWER)) return null;
  if (draft.ai.enabled && draft.ai.provider !== "")
    return { says: `The model is ${model}. Test it in the form.`, patches: patchModel(model), focus: "ai.model" };
  return { says: `Which server runs ${model}: Ollama, LM Studio, another one?`, patches: [], focus: "ai.provider", asks: "model" };
}

/** The id of a provider that a text names. */
export function findMention(text: string): string | null {
  return MENTIONS.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}

function findModelName(text: string): string | null {
  return MODEL.exec(text)?.[0] ?? NAMED_MODEL.exec(text)?.[1] ?? null;
}

function patchModel(model: string | null): ReturnType<typeof setField>[] {
  return model === null ? [] : [setField("ai.model", model)];
}
