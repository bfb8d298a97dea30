// A mistake of ours in one screen ends that screen, not the desktop.

import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import type { Path } from "./route.ts";

/** Going to another path is a fresh start. */
export function Guarded({ path, children }: { path: Path; children: ComponentChildren }) {
  const [error, again] = useErrorBoundary((error) => console.error(error));
  useEffect(again, [path]);
  if (error === undefined) return <>{children}</>;
  return (
    <Banner tone="bad" actions={<Button onClick={again}>Show it again</Button>}>
      This screen has failed. What you did before is not lost.
    </Banner>
  );
}
