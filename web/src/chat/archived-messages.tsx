// The messages of an archive. They can be read and copied but not forked from.

import type { Conversation } from "../state/conversation.ts";
import type { HistoryMessage } from "../state/history-window.ts";
import { MessageView } from "./message.tsx";
import { makeHistoryRows } from "./message-rows.ts";
import { SystemMessage } from "./system-message.tsx";
import { ToolGroup } from "./tool-group.tsx";

type ArchivedProps = { conversation: Conversation; messages: readonly HistoryMessage[]; segmentId: string };

export default function ArchivedMessages({ conversation, messages, segmentId }: ArchivedProps) {
  const rows = makeHistoryRows({ from: 0, messages });
  return (
    <>
      {rows.map((row) => {
        if (row.kind === "tools") return <ToolGroup key={row.key} conversation={conversation} steps={row.steps} />;
        if (row.kind !== "message") return null;
        const props = { conversation, message: row.message };
        return row.message.role === "system" ? (
          <SystemMessage key={row.key} {...props} before={segmentId} />
        ) : (
          <MessageView key={row.key} {...props} />
        );
      })}
    </>
  );
}
