// Marks a field that the guide filled in, until the user changes it.

import type { ComponentChildren } from "preact";
import { type Draft, guidedFields } from "./draft.ts";

export function GuidedField({ field, children }: { field: keyof Draft; children: ComponentChildren }) {
  const isGuided = guidedFields.value.has(field);
  return (
    <div class="filled" data-guided={isGuided ? "yes" : undefined}>
      {children}
      {isGuided && <p class="filled-words">Filled in by the guide. You can change it.</p>}
    </div>
  );
}
