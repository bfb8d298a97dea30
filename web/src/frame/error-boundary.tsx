// Limits a rendering error to the screen in which it occurs.

import type { ComponentChildren } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import type { Path } from "./route.ts";

/** Resets when the path changes. */
export function ErrorBoundary({ path, children }: { path: Path; children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary((error) => console.error(error));
  useEffect(reset, [path]);
  if (error === undefined) return <>{children}</>;
  return (
    <Banner tone="bad" actions={<Button onClick={reset}>Show it again</Button>}>
      This screen has failed. What you did before is not lost.
    </Banner>
  );
}
