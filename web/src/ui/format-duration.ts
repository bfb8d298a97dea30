// How long something took or takes, in a few characters: "350 ms", "2.4 s", "1 min 5 s", "2 h 10 min".

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
