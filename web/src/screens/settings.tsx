// Settings: not built yet, and says so.

import { Code } from "../ui/code.tsx";
import { EmptyState } from "../ui/empty-state.tsx";

export default function Settings() {
  return (
    <EmptyState icon="settings" title="Settings" text="Models, people, tokens and policies will be here. Until then, in a terminal:">
      <Code text="npx gsv config get" />
    </EmptyState>
  );
}
