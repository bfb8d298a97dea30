// Token counts and costs in words.

export function formatTokens(tokens: number): string {
  if (tokens < 1_000) return `${Math.round(tokens)} tokens`;
  if (tokens < 1_000_000) return `${(tokens / 1_000).toFixed(tokens < 10_000 ? 1 : 0)}k tokens`;
  return `${(tokens / 1_000_000).toFixed(1)}M tokens`;
}

/** In dollars, as in the model catalogue. */
export function formatCost(cost: number): string {
  if (cost === 0) return "no cost";
  if (cost < 0.01) return "under 1 ¢";
  return `$${cost.toFixed(2)}`;
}
