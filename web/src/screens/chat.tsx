// Chat: the list of agents and conversations next to the open conversation; on a narrow screen only one of the two.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { AgentList } from "../chat/agent-list.tsx";
import { ConversationView } from "../chat/conversation-view.tsx";
import { conversationPath, DEFAULT_CONVERSATION, lastShownPid } from "../chat/conversation-links.ts";
import { go, type PaneName, type Path } from "../frame/route.ts";
import { findAgent, agents, sortedAgents, useAgentUpdates } from "../state/agents.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import type { ScreenProps } from "./screens.ts";
import "../chat/chat.css";

/** Below this width only one of the two fits. */
const NARROW_PX = 720;

export default function Chat({ rest, pane }: ScreenProps) {
  useAgentUpdates();
  const box = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow(box);
  const [named] = rest;
  const pid = named ?? sortedAgents.value?.find(({ profile }) => profile === "init")?.pid ?? null;
  const conversationId = rest[1] ?? DEFAULT_CONVERSATION;
  useNameWhenNarrowed(isNarrow, named, pid === null ? null : conversationPath(pid, conversationId), pane);
  const hasList = isNarrow === false || (isNarrow === true && named === undefined);
  const hasConversation = isNarrow === false || (isNarrow === true && named !== undefined);
  const isGone = named !== undefined && agents.value.value !== null && findAgent(named) === null && !agents.isReading.value;
  return (
    <div class="chat" ref={box} data-narrow={isNarrow}>
      {hasList && <AgentList shown={isNarrow ? { pid: lastShownPid.value ?? pid, conversationId: null } : { pid, conversationId }} />}
      {hasConversation &&
        (isGone ? (
          <EmptyState
            icon="search"
            title="There is no such agent"
            text="It may have belonged to somebody else, or never have been there."
          />
        ) : (
          pid !== null && (
            <ConversationView
              key={`${pid} ${conversationId}`}
              pid={pid}
              id={conversationId}
              isNarrow={isNarrow}
              isNamed={named !== undefined}
            />
          )
        ))}
    </div>
  );
}

/** A narrower window keeps the conversation that it showed: without a name in the address it would show the list. */
function useNameWhenNarrowed(isNarrow: boolean | null, named: string | undefined, path: Path | null, pane: PaneName): void {
  const wasWide = useRef(false);
  useLayoutEffect(() => {
    const wasNarrowed = isNarrow === true && wasWide.current;
    wasWide.current = isNarrow === false;
    // A dialog of the list, such as a new task, would be lost with the list.
    if (wasNarrowed && named === undefined && path !== null && document.querySelector(".agents dialog[open]") === null)
      go(path, { pane, replace: true });
  }, [isNarrow]);
}

/** Null until measured. */
function useIsNarrow(box: { readonly current: HTMLElement | null }): boolean | null {
  const [isNarrow, setNarrow] = useState<boolean | null>(null);
  useLayoutEffect(() => {
    const element = box.current!;
    const measure = () => {
      // A hidden pane has no width and keeps its last state.
      if (element.clientWidth > 0) setNarrow(element.clientWidth < NARROW_PX);
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return isNarrow;
}
