// The effect of an edited policy: sample calls that it decides differently from the current policy.

import { useEffect, useState } from "preact/hooks";
import { call, describeError } from "../state/call.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Card } from "../ui/card.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { ACTION_TONES, ACTION_WORDS, type Sample, SAMPLES } from "./policy-samples.ts";

type Action = keyof typeof ACTION_WORDS;
type Change = { sample: Sample; now: Action; next: Action };

const DEBOUNCE_MS = 500;

export function PolicyChanges({ profile, policy }: { profile: string; policy: string }) {
  const [changes, setChanges] = useState<readonly Change[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(() => {
      findChanges(profile, policy).then(
        (found) => {
          if (!isCurrent) return;
          setProblem(null);
          setChanges(found);
        },
        (error: unknown) => isCurrent && setProblem(describeError(error)),
      );
    }, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [profile, policy]);
  return (
    <Card title="What would change" text={`Tried on ${SAMPLES.length} typical calls.`}>
      {problem !== null && <Banner tone="bad">{problem}</Banner>}
      {changes === null && problem === null && <Skeleton label="Trying the policy" />}
      {changes?.length === 0 && <p>None of them is decided differently.</p>}
      {changes !== null && changes.length > 0 && (
        <ul class="entries">
          {changes.map(({ sample, now, next }) => (
            <li class="entry" key={sample.title}>
              <div class="entry-words">
                <p>{sample.title}</p>
                <p class="soft small">Now: {ACTION_WORDS[now].toLowerCase()}</p>
              </div>
              <Badge tone={ACTION_TONES[next]}>{ACTION_WORDS[next]}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

async function findChanges(profile: string, policy: string): Promise<Change[]> {
  const all = await Promise.all(
    SAMPLES.map(async (sample) => {
      const { call: name, args } = sample;
      const [now, next] = await Promise.all([
        call("proc.approval.preview", { profile, call: name, args }),
        call("proc.approval.preview", { profile, policy, call: name, args }),
      ]);
      return { sample, now: now.action, next: next.action };
    }),
  );
  return all.filter(({ now, next }) => now !== next);
}
