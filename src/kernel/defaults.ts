// Configuration before anybody has set any. Only overrides are stored; these lie under them.

export function configDefaults(host: { version: string; model: { provider: string; model: string } }): ReadonlyMap<string, string> {
  return new Map([
    ["config/ai/api_key", ""],
    ["config/ai/model", host.model.model],
    ["config/ai/provider", host.model.provider],
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
