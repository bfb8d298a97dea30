// Chat: not built yet, and says so.

import { EmptyState } from "../ui/empty-state.tsx";

export default function Chat() {
  return <EmptyState icon="chat" title="Talk to an agent" text="Conversations with your agents will be here." />;
}
