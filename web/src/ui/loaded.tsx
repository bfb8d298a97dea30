// A value that is read from the gateway, in each of its states: coming, there, or failed with a way to try again. A value
// that is there stays while it is read anew.

import type { ComponentChildren } from "preact";
import type { Latest } from "../state/latest.ts";
import { Banner } from "./banner.tsx";
import { Button } from "./button.tsx";
import { Skeleton } from "./skeleton.tsx";

type LoadedProps<T> = { latest: Latest<T>; label: string; children: (value: T) => ComponentChildren };

/** `label` says what is coming: "Loading your machines". */
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
