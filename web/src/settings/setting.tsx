// A place on a page of Settings that an address can lead to (settings-index.ts).

import type { ComponentChildren } from "preact";

export function Setting({ anchor, children }: { anchor: string; children: ComponentChildren }) {
  return (
    <div class="setting" id={`setting-${anchor}`}>
      {children}
    </div>
  );
}
