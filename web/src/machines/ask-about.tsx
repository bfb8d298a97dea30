// Opens a new conversation with the personal agent in which the beginning of a question about a machine is already written.

import { makeVisible } from "../../../src/approval/visible.ts";
import { openConversation } from "../chat/conversation-links.ts";
import type { PaneName } from "../frame/route.ts";
import { sortedAgents, useAgentUpdates } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import { saveDraft } from "../state/drafts.ts";
import { randomUuid } from "../state/random-uuid.ts";
import { mayCall, username } from "../state/session.ts";
import { showNotice } from "../state/notices.ts";
import { Button } from "../ui/button.tsx";

type AskProps = { machine: string; label?: string; look?: "primary" | "plain"; pane: PaneName };

export function AskAbout({ machine, label = "Ask about this machine", look = "plain", pane }: AskProps) {
  useAgentUpdates();
  const pid = sortedAgents.value?.find(({ profile }) => profile === "init")?.pid;
  if (!mayCall("proc.send")) return null;
  const ask = async () => {
    if (pid === undefined) return;
    const conversationId = randomUuid();
    try {
      await call("proc.conversation.open", { pid, conversationId, title: `About ${makeVisible(machine)}` });
      saveDraft(username.peek(), pid, conversationId, `On ${machine}: `);
      openConversation(pid, conversationId, pane);
    } catch (error) {
      showNotice(describeError(error), "bad");
    }
  };
  return (
    <Button look={look} icon="chat" disabled={pid === undefined} onClick={() => void ask()}>
      {label}
    </Button>
  );
}
