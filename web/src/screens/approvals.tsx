// Approvals: not built yet, and says so.

import { EmptyState } from "../ui/empty-state.tsx";

export default function Approvals() {
  return (
    <EmptyState
      icon="approval"
      title="Nothing to decide here yet"
      text="When an agent wants to do something that needs your yes, it will be asked here."
    />
  );
}
