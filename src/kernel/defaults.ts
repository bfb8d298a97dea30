// The default configuration. Only overrides are stored; a key without one has the value below.

import { promptDefaults } from "../agent/prompts/prompts.ts";
import { AI_DEFAULTS } from "./agents/ai-settings.ts";
import { QUOTA_KEY } from "./files/quotas.ts";

export function makeConfigDefaults(host: { version: string; model: { provider: string; model: string } }): ReadonlyMap<string, string> {
  return new Map([
    ["config/ai/api_key", ""],
    ["config/ai/context_window_tokens", String(AI_DEFAULTS.contextWindowTokens)],
    ["config/ai/max_context_bytes", String(AI_DEFAULTS.maxContextBytes)],
    ["config/ai/max_tokens", String(AI_DEFAULTS.maxTokens)],
    ["config/ai/model", host.model.model],
    ["config/ai/provider", host.model.provider],
    ["config/ai/reasoning", AI_DEFAULTS.reasoning],
    ...promptDefaults,
    // Empty means the smaller of 10 GiB and half the disk.
    [QUOTA_KEY, ""],
    ["config/net/allowed_hosts", ""],
    ["config/server/name", "gsv"],
    ["config/server/timezone", "UTC"],
    ["config/server/version", host.version],
    ["config/shell/max_output_bytes", "524288"],
    ["config/shell/network_enabled", "true"],
    ["config/shell/timeout_ms", "30000"],
    ["config/shell/wait_ms", "10000"],
  ]);
}
