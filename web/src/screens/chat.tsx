// Chat: not built yet, and says so.

import { Code } from "../ui/code.tsx";
import { EmptyState } from "../ui/empty-state.tsx";

export default function Chat() {
  return (
    <EmptyState
      icon="chat"
      title="Talk to an agent"
      text="Conversations with your agents will be here. Until then, the same is in a terminal:"
    >
      <Code text="npx gsv chat" />
    </EmptyState>
  );
}
