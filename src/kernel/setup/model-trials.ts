// Models before anybody has an account, and models somebody thinks of using: tried without being set. Addresses that are not
// public are reached only for who could list them, and by these requests alone.

import { demoGuide } from "../../models/demo-guide.ts";
import { ProviderModels } from "../../models/models.ts";
import { type TrialServices, tryModel } from "../../models/trial.ts";
import { fail } from "../../lib/sys-error.ts";
import type { ModelChoice } from "../../ports/models.ts";
import type { Net } from "../../ports/net.ts";
import type { ModelCheck } from "../../protocol/model-check.ts";
import { providerOf } from "../../models/providers.ts";
import { allowList } from "../egress/allow.ts";
import { GUIDE_PROMPT, type GuideInput } from "./guide.ts";

/** A guide says a few sentences; who asks has no account that could pay for more. */
const GUIDE_TOKENS = 1_024;
const GUIDE_LIMITS = { tries: 2, silenceMs: 20_000, localSilenceMs: 40_000, budgetMs: 30_000 };

export type Tried = Pick<ModelChoice, "provider" | "model" | "apiKey" | "baseUrl">;

export class ModelTrials {
  readonly #services: TrialServices;

  constructor(services: TrialServices) {
    this.#services = services;
  }

  /** `ownsMachine`: whoever asks may say that the gateway connects to addresses that are not public. */
  check(tried: Tried, ownsMachine: boolean, signal: AbortSignal): Promise<ModelCheck> {
    const { net } = this.#services;
    return tryModel({ ...this.#services, net: ownsMachine ? reaching(net, tried) : net }, tried, signal);
  }

  /** What a guide says, as it said it. */
  async guide(choice: ModelChoice, input: GuideInput, signal: AbortSignal): Promise<string> {
    if (choice.provider === "demo") return demoGuide(input);
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
      // Its own words are for whoever runs the gateway, and a stranger is not known to be that.
      if (event.type === "error") break;
    }
    fail(503, "The guide cannot answer at the moment: go on with the form, which needs no guide");
  }
}

function reaching(net: Net, { provider, baseUrl }: Tried): Net {
  const alsoTo = allowList(undefined, baseUrl ?? providerOf(provider)?.baseUrl ?? undefined);
  return { fetch: (request, options) => net.fetch(request, { ...options, alsoTo }) };
}
