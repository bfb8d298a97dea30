// Tests a model before it is configured, and runs the set-up guide before there is an account. An address that is not public is
// reached only for a caller who could put it on the allow list, and only by these requests.

import { ProviderModels } from "../../models/models.ts";
import { type TrialServices, tryModel } from "../../models/trial.ts";
import type { ModelChoice } from "../../ports/models.ts";
import type { Net } from "../../ports/net.ts";
import type { ModelCheck } from "../../protocol/model-check.ts";
import { findProvider } from "../../models/providers.ts";
import { makeAllowList } from "../egress/allow.ts";
import { type ListRequest, type ModelList, ModelLists } from "./model-lists.ts";
import { GUIDE_PROMPT, type GuideInput } from "./guide.ts";

/** A guide answers with a few sentences, and its caller has no account to charge for more. */
const GUIDE_TOKENS = 1_024;
const GUIDE_LIMITS = { tries: 2, silenceMs: 20_000, localSilenceMs: 40_000, budgetMs: 30_000 };

export type ModelCandidate = Pick<ModelChoice, "provider" | "model" | "apiKey" | "baseUrl">;

export class ModelTrials {
  readonly #services: TrialServices;

  readonly #lists: ModelLists;

  constructor(services: TrialServices) {
    this.#services = services;
    this.#lists = new ModelLists(services.net, services.now);
  }

  /** The models that a user can choose. */
  listModels(request: ListRequest, admit: () => void): Promise<ModelList> {
    return this.#lists.get(request, admit);
  }

  /** `ownsMachine`: the caller may decide that the gateway connects to addresses that are not public. */
  check(tried: ModelCandidate, ownsMachine: boolean, signal: AbortSignal): Promise<ModelCheck> {
    const { net } = this.#services;
    return tryModel({ ...this.#services, net: ownsMachine ? withServerAllowed(net, tried) : net }, tried, signal);
  }

  /** The guide's answer, unparsed; null if there is no model or it does not answer. */
  async askGuide(choice: ModelChoice, input: GuideInput, signal: AbortSignal): Promise<string | null> {
    if (choice.provider === "demo") return null;
    const { workersAi, ...rest } = this.#services;
    const models = new ProviderModels({ ...rest, limits: GUIDE_LIMITS, ...(workersAi === undefined ? {} : { workersAi }) });
    const request = {
      choice: { ...choice, maxOutputTokens: Math.min(choice.maxOutputTokens, GUIDE_TOKENS) },
      system: GUIDE_PROMPT,
      messages: [{ role: "user" as const, content: [{ type: "text" as const, text: JSON.stringify(input) }] }],
      tools: [],
      affinity: "setup",
    };
    for await (const event of models.stream(request, signal)) {
      if (event.type === "done") return event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
      // The error text is meant for the operator, and the caller may be a stranger.
      if (event.type === "error") break;
    }
    return null;
  }
}

function withServerAllowed(net: Net, { provider, baseUrl }: ModelCandidate): Net {
  const isAlsoAllowed = makeAllowList(undefined, baseUrl ?? findProvider(provider)?.baseUrl ?? undefined);
  return { fetch: (request, options) => net.fetch(request, { ...options, isAlsoAllowed }) };
}
