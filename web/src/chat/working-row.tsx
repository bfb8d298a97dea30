// The last row of a conversation while a run is active: what it does, for how long, and a button that stops it.

import { makeVisible } from "../../../src/approval/visible.ts";
import type { Conversation } from "../state/conversation.ts";
import { useHasPassed } from "../state/use-has-passed.ts";
import { Button } from "../ui/button.tsx";
import { Elapsed } from "./elapsed.tsx";
import { formatTokens } from "./format-usage.ts";
import { runPhaseOf } from "./run-phase.ts";
import { stopRun } from "./stop-run.ts";

/** Then a model is slow, or its server hangs. */
const SLOW_MS = 30_000;

export function WorkingRow({ conversation }: { conversation: Conversation }) {
  const { words, call, since, tokens } = runPhaseOf(conversation);
  const isSlow = useHasPassed(since === null ? null : since + SLOW_MS) && call === null && tokens === null;
  return (
    <div class="working">
      <span class="working-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {/* The seconds are not announced. */}
      <span class="unseen" role="status">
        The agent is working
      </span>
      <span class="working-words">
        {makeVisible(words)}
        {call !== null && (
          <>
            {makeVisible(call.verb)} {call.subject !== "" && <code>{makeVisible(call.subject.split("\n")[0]!.slice(0, 120))}</code>}{" "}
            {makeVisible(call.place)}
          </>
        )}
        {since !== null && <Elapsed since={since} before=", " />}
        {tokens !== null && tokens > 0 && `, about ${formatTokens(tokens)}`}
        {isSlow && ". The model may be slow, or its server may hang: you can stop, and choose another model below."}
      </span>
      <Button look="quiet" onClick={() => void stopRun(conversation)}>
        Stop
      </Button>
    </div>
  );
}
