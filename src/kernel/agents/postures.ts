// Which posture applies to a conversation: its own, that of its process, or the strictness of whoever started the process or sent
// the messages it is answering, as it was then and as it is now. So an agent gains nothing by starting a child, using another conversation
// or another process, or waiting until what made it stricter is over.

import { pickStricterPosture, TRUSTED_MS } from "../../approval/posture.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";
import type { AgentCall } from "../../protocol/caller.ts";
import type { EffectiveSettings, Posture, ProcessSettings } from "../../protocol/process-settings.ts";
import type { ReadContext } from "../context.ts";
import type { MessageTarget, Origin } from "../nouns/process-origins.ts";
import type { SettingsOwner } from "../nouns/process-settings.ts";
import type { Store } from "../store.ts";

type Reads = Pick<ReadContext, "processSettings" | "processOrigins" | "now">;
type EffectivePosture = Pick<EffectiveSettings, "posture" | "postureEndsAt" | "postureFrom">;

/** Longer chains of agents ask. */
const SOURCES_MAX = 200;
const CAREFUL: EffectivePosture = { posture: "careful", postureEndsAt: null, postureFrom: "default" };
const ASKING_PARENT: EffectivePosture = { posture: "ask", postureEndsAt: null, postureFrom: "parent" };

export function findPosture(reads: Reads, owner: SettingsOwner, seen = new Set<string>()): EffectivePosture {
  seen.add(JSON.stringify([owner.pid, owner.conversationId]));
  const own = ownPosture(reads, owner);
  const parent = own === null ? reads.processOrigins.ofProcess(owner.pid) : undefined;
  const base = own ?? (parent !== undefined && sourcePosture(reads, parent, seen) === "ask" ? ASKING_PARENT : CAREFUL);
  if (owner.conversationId === null) return base;
  const posture = reads.processOrigins
    .ofMessages(owner.pid, owner.conversationId)
    .reduce((strictest: Posture, origin) => pickStricterPosture(strictest, sourcePosture(reads, origin, seen)), base.posture);
  return posture === base.posture ? base : { posture, postureEndsAt: null, postureFrom: "parent" };
}

/** Recorded with what an agent starts or sends. */
export function makeOrigin(reads: Reads, { pid, conversationId }: Pick<AgentCall, "pid" | "conversationId">): Origin {
  const source = { pid, conversationId: conversationId ?? DEFAULT_CONVERSATION };
  return { sourcePid: pid, sourceConversationId: source.conversationId, posture: findPosture(reads, source).posture };
}

/** Records who sends a message for as long as it waits or is being answered. */
export function withMessageOrigin<T>(
  store: Store,
  source: Pick<AgentCall, "pid" | "conversationId">,
  target: MessageTarget,
  send: () => Promise<T>,
): Promise<T> {
  return withOrigin(store, makeOrigin(store.reads, source), target, send);
}

/** The same, for what was found out earlier: meanwhile the source may have become less strict. */
export async function withOrigin<T>(store: Store, origin: Origin, target: MessageTarget, send: () => Promise<T>): Promise<T> {
  store.write(({ processOrigins }) => processOrigins.addMessage(target, origin));
  try {
    return await send();
  } catch (error) {
    store.relaxed(({ processOrigins }) => processOrigins.removeMessage(target.pid, target.runId));
    throw error;
  }
}

/** Until when a posture holds that is set now. */
export function postureEndOf(posture: Posture | null, now: number): number | null {
  return posture === "trusted" ? now + TRUSTED_MS : null;
}

function ownPosture({ processSettings, now }: Reads, { pid, conversationId }: SettingsOwner): EffectivePosture | null {
  const levels = [
    ...(conversationId === null ? [] : [{ postureFrom: "conversation" as const, settings: processSettings.get({ pid, conversationId }) }]),
    { postureFrom: "process" as const, settings: processSettings.get({ pid, conversationId: null }) },
  ];
  for (const { postureFrom, settings } of levels) {
    const { posture, postureEndsAt } = settings;
    if (posture !== null && isCurrent(settings, now)) return { posture, postureEndsAt, postureFrom };
  }
  return null;
}

/** An end that is further away than it can be was set before the clock was set back. */
function isCurrent({ posture, postureEndsAt }: ProcessSettings, now: number): boolean {
  if (posture !== "trusted") return true;
  return postureEndsAt !== null && now < postureEndsAt && postureEndsAt <= now + TRUSTED_MS;
}

/** The stricter of what the source had and what it has. What a source has that was looked at before adds nothing. */
function sourcePosture(
  reads: Reads,
  { sourcePid: pid, sourceConversationId: conversationId, posture }: Origin,
  seen: Set<string>,
): Posture {
  if (posture === "ask" || seen.size >= SOURCES_MAX) return "ask";
  if (seen.has(JSON.stringify([pid, conversationId]))) return posture;
  return pickStricterPosture(posture, findPosture(reads, { pid, conversationId }, seen).posture);
}
