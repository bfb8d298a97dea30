// Shows a Latest in each of its states: loading, loaded, or failed with a retry button. A loaded value stays visible while it is
// refetched.

import type { ComponentChildren } from "preact";
import type { Latest } from "../state/latest.ts";
import { Banner } from "./banner.tsx";
import { Button } from "./button.tsx";
import { Skeleton } from "./skeleton.tsx";

type LoadedProps<T> = { latest: Latest<T>; label: string; children: (value: T) => ComponentChildren };

/** `label` describes what is loading: "Loading your machines". */
export function Loaded<T>({ latest, label, children }: LoadedProps<T>) {
  const value = latest.value.value;
  const problem = latest.problem.value;
  return (
    <>
      {problem !== null && (
        <Banner
          tone="bad"
          actions={
            <Button busy={latest.isReading.value} onClick={() => void latest.refetch()}>
              Try again
            </Button>
          }
        >
          {problem}
        </Banner>
      )}
      {value !== null ? children(value) : problem === null && <Skeleton label={label} />}
    </>
  );
}
