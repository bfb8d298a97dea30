// Machines: not built yet, and says so.

import { Code } from "../ui/code.tsx";
import { EmptyState } from "../ui/empty-state.tsx";

export default function Machines() {
  return (
    <EmptyState
      icon="machine"
      title="Your machines"
      text="Machines that are connected to this gateway will be here. Until then, in a terminal:"
    >
      <Code text="npx gsv device list" />
    </EmptyState>
  );
}
