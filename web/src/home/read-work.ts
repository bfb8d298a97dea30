// Reads in which conversations something happened today.

import { call, type Result } from "../state/call.ts";
import { session } from "../state/session.ts";

export type Work = { pid: string; conversation: Result<"proc.conversation.list">["conversations"][number] };

/** More agents than this rarely work on one day; the others are in Chat. */
const AGENTS_MAX = 10;

export async function readWorkOfToday(): Promise<Work[]> {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const { processes } = await call("proc.list", { uid: session.peek()?.identity.process.uid ?? -1 });
  const active = processes
    .filter(({ lastActiveAt, state }) => state !== "idle" || (lastActiveAt ?? 0) >= midnight)
    .toSorted((a, b) => (b.lastActiveAt ?? 0) - (a.lastActiveAt ?? 0))
    .slice(0, AGENTS_MAX);
  const work = await Promise.all(
    active.map(async ({ pid }) => {
      const { conversations } = await call("proc.conversation.list", { pid, includeClosed: true });
      return conversations
        .filter(({ updatedAt, messageCount }) => updatedAt >= midnight && messageCount > 0)
        .map((conversation) => ({ pid, conversation }));
    }),
  );
  return work.flat();
}
