// The AI settings and budgets of users, parsed once and again only after a setting has changed: every run needs them, and budgets are
// checked before every model call.

import { Cache } from "../../lib/cache.ts";
import type { ConfigReads } from "../nouns/config.ts";
import { type AiSettings, readAiSettings } from "./ai-settings.ts";
import { type Budgets, readBudgets } from "./budgets.ts";

type Entry = { generation: number; ai: AiSettings; budgets: Budgets };

const USERS_MAX = 256;

export class UserSettings {
  readonly #config: Pick<ConfigReads, "get" | "generationOf">;
  readonly #entries = new Cache<number, Entry>(USERS_MAX);

  constructor(config: Pick<ConfigReads, "get" | "generationOf">) {
    this.#config = config;
  }

  /** The same objects until a setting changes. */
  of(uid: number): Pick<Entry, "ai" | "budgets"> {
    const generation = this.#config.generationOf(uid);
    const known = this.#entries.find(uid);
    if (known?.generation === generation) return known;
    const entry = { generation, ai: readAiSettings(this.#config, uid), budgets: readBudgets(this.#config, uid) };
    this.#entries.set(uid, entry);
    return entry;
  }
}
