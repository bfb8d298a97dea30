// What a run uses: the settings of its message, its conversation and its process, in this order, before those of its user. A model
// can only be chosen from the servers that the user's own settings name, so a key never goes anywhere new.

import { fail } from "../../lib/sys-error.ts";
import type { ModelChoice } from "../../ports/models.ts";
import type { EffectiveSettings, ModelRef, ProcessSettings, RunSettings } from "../../protocol/process-settings.ts";
import type { AiSettings } from "./ai-settings.ts";

/** The levels at which a person can set something, first the one that takes precedence. */
export type SettingsLevels = { message?: RunSettings | undefined; conversation: ProcessSettings | null; process: ProcessSettings };

export type RunModel = Pick<AiSettings, "choice" | "fallback"> & {
  prompt: string | null;
  modelFrom: EffectiveSettings["modelFrom"];
  problems: readonly string[];
};

export function applySettings(ai: AiSettings, { message = {}, conversation, process }: SettingsLevels): RunModel {
  const wanted = message.model ?? conversation?.model ?? process.model;
  const thinking = message.thinking ?? conversation?.thinking ?? process.thinking;
  const maxTokens = message.maxTokens ?? conversation?.maxTokens ?? process.maxTokens;
  const prompt = message.prompt ?? conversation?.prompt ?? process.prompt;
  const found = wanted === null ? null : findModel(ai, wanted);
  const problems = wanted !== null && found === null ? [...ai.problems, unavailableText(ai, wanted)] : ai.problems;
  const withOptions = (choice: ModelChoice): ModelChoice => ({
    ...choice,
    reasoning: thinking ?? choice.reasoning,
    maxOutputTokens: maxTokens ?? choice.maxOutputTokens,
  });
  const choice = withOptions(found ?? ai.choice);
  const fallback = ai.fallback === null || isSameModel(ai.fallback, choice) ? null : withOptions(ai.fallback);
  const modelFrom =
    found === null ? ai.choiceFrom : conversation?.model != null || message.model !== undefined ? "conversation" : "process";
  return { choice, fallback, prompt, modelFrom, problems };
}

export function mustBeAvailable(ai: AiSettings, wanted: ModelRef): void {
  if (findModel(ai, wanted) === null) fail(400, unavailableText(ai, wanted));
}

/** The fallback's own model is the fallback's, even if both servers are of one provider. */
function findModel({ choice, fallback }: AiSettings, { provider, model }: ModelRef): ModelChoice | null {
  const isFallback =
    fallback?.provider === provider && (choice.provider !== provider || (fallback.model === model && choice.model !== model));
  if (isFallback) return { ...fallback, model };
  return choice.provider === provider ? { ...choice, model } : null;
}

function isSameModel(one: ModelChoice, other: ModelChoice): boolean {
  return one.provider === other.provider && one.model === other.model && one.baseUrl === other.baseUrl;
}

function unavailableText({ choice, fallback }: AiSettings, { provider, model }: ModelRef): string {
  const providers = [...new Set([choice.provider, ...(fallback === null ? [] : [fallback.provider])])].join(", ");
  return `${provider}/${model} is not available: choose a model of ${providers}, or set up its provider in the AI settings first`;
}
