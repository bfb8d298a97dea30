// The models that each user can choose, as the servers of their main and fallback model list them. A list is kept for a minute, or
// until a setting changes. Never fails for a server that does not answer. agents/effective-settings.ts accepts what is listed here.

import { Cache } from "../../lib/cache.ts";
import { listChoices } from "../../models/trial.ts";
import type { ModelChoice } from "../../ports/models.ts";
import type { Net } from "../../ports/net.ts";
import type { AiSettings } from "../agents/ai-settings.ts";

export type ModelList = { models: { provider: string; title: string; model: string; isDefault: boolean }[]; problem: string | null };
export type ListRequest = Pick<AiSettings, "choice" | "fallback"> & { uid: number; generation: number };

const KEPT_MS = 60_000;
const USERS_MAX = 1_000;

type Kept = { generation: number; at: number; list: Promise<ModelList> };

export class ModelLists {
  readonly #net: Net;
  readonly #now: () => number;
  readonly #kept = new Cache<number, Kept>(USERS_MAX);

  constructor(net: Net, now: () => number) {
    this.#net = net;
    this.#now = now;
  }

  /** `admit` fails if the user may not make servers list their models now. */
  async get(request: ListRequest, admit: () => void): Promise<ModelList> {
    const { uid, generation } = request;
    const at = this.#now();
    const kept = this.#kept.find(uid);
    // A clock that was set back must not keep a list for longer.
    if (kept?.generation === generation && Math.abs(at - kept.at) < KEPT_MS) return kept.list;
    admit();
    const list = this.#list(request);
    this.#kept.set(uid, { generation, at, list });
    return list;
  }

  async #list({ choice, fallback }: ListRequest): Promise<ModelList> {
    const isOtherServer = fallback !== null && (fallback.provider !== choice.provider || fallback.baseUrl !== choice.baseUrl);
    const [main, other] = await Promise.all([
      listChoices(this.#net, choice),
      // Of a second server of the same provider only its own model can be chosen: a choice names the provider.
      isOtherServer && fallback.provider !== choice.provider ? listChoices(this.#net, fallback) : null,
    ]);
    const toEntries = ({ provider }: ModelChoice, title: string, models: readonly string[]) =>
      models.map((model) => ({ provider, title, model, isDefault: provider === choice.provider && model === choice.model }));
    const all = [...toEntries(choice, main.title, withOwn(main.models, choice))];
    if (fallback !== null)
      for (const entry of toEntries(fallback, other?.title ?? main.title, withOwn(other?.models ?? [], fallback)))
        if (!all.some(({ provider, model }) => provider === entry.provider && model === entry.model)) all.push(entry);
    return { models: all, problem: [main.problem, other?.problem].find((problem) => problem != null) ?? null };
  }
}

/** The chosen model can be chosen, listed or not. */
function withOwn(models: readonly string[], { model }: ModelChoice): readonly string[] {
  return model === "" || models.includes(model) ? models : [model, ...models];
}
