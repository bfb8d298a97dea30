// Which signals of the gateway mean that a list is to be read again, for useLatest and Latest.

/** `what` as the signal sys.changed names it: tokens, users, approvals. */
export function hears(...what: string[]): (signal: string, payload: unknown) => boolean {
  return (signal, payload) => signal === "sys.changed" && changesOf(payload).some((change) => what.includes(change));
}

function changesOf(payload: unknown): string[] {
  const changes = (payload as { changes?: unknown } | null)?.changes;
  return Array.isArray(changes) ? changes.filter((change) => typeof change === "string") : [];
}
