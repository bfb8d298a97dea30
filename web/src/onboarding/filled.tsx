// Around a field: says that the guide filled it in, until the person touches it.

import type { ComponentChildren } from "preact";
import { type Draft, guided } from "./draft.ts";

export function Filled({ field, children }: { field: keyof Draft; children: ComponentChildren }) {
  const isGuided = guided.value.has(field);
  return (
    <div class="filled" data-guided={isGuided ? "yes" : undefined}>
      {children}
      {isGuided && <p class="filled-words">Filled in by the guide. Change it if you like.</p>}
    </div>
  );
}
