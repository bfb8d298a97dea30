// The commands of the user and their agents that run on a machine, each with a button that ends it.

import { makeVisible } from "../../../src/approval/visible.ts";
import { DEVICE_STATUS, EXEC_STATUS } from "../../../src/protocol/signal-names.ts";
import { call, type Result } from "../state/call.ts";
import type { Latest } from "../state/latest.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { showNotice } from "../state/notices.ts";
import { useLatest } from "../state/use-latest.ts";
import { useOperation } from "../state/use-operation.ts";
import { usePolling } from "../state/use-polling.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Time } from "../ui/time.tsx";

type Session = Result<"shell.list">["sessions"][number];

const POLL_MS = 10_000;
/** A killed command ends at once, unless its machine is slow. */
const KILL_WAIT_MS = 5_000;
const isSessionChange = makeChangeFilter("sessions");

/** For a machine that is online, or the gateway. */
export function useSessions(target: string): Latest<Result<"shell.list">> {
  const latest = useLatest("shell.list", { target }, (sent) => {
    return sent.signal === EXEC_STATUS || sent.signal === DEVICE_STATUS || isSessionChange(sent);
  });
  usePolling(latest, POLL_MS);
  return latest;
}

export function listRunning(sessions: readonly Session[]): Session[] {
  return sessions.filter(({ state }) => state === "running").toSorted((one, other) => other.startedAt - one.startedAt);
}

export function RunningCommands({ target }: { target: string }) {
  const latest = useSessions(target);
  return (
    <Card title="Running commands" text="What you and your agents started here and what has not ended.">
      <Loaded latest={latest} label="Loading the running commands">
        {({ sessions }) => {
          const running = listRunning(sessions);
          if (running.length === 0) return <p class="soft">No commands are running.</p>;
          return (
            <ul class="entries">
              {running.map((session) => (
                <CommandEntry key={session.sessionId} session={session} target={target} onChanged={() => latest.refetch()} />
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
}

type EntryProps = { session: Session; target: string; onChanged: () => Promise<void> };

function CommandEntry({ session: { sessionId, command, cwd, startedAt, tty }, target, onChanged }: EntryProps) {
  const operation = useOperation();
  const name = makeVisible(command);
  const kill = () =>
    operation.run(async () => {
      const { status } = await call("shell.exec", { target, sessionId, input: "", signal: "KILL", wait: KILL_WAIT_MS });
      await onChanged();
      if (status === "running") showNotice("The command was killed but has not ended yet", "bad");
    });
  return (
    <li class="entry">
      <div class="entry-words">
        <code class="machine-command" title={name}>
          {name}
        </code>
        <span class="soft small">
          {tty === true && "Terminal, "}in {makeVisible(cwd)}, started <Time at={startedAt} />
        </span>
        {operation.problem !== null && <Banner tone="bad">{makeVisible(operation.problem)}</Banner>}
      </div>
      <Button busy={operation.isBusy} aria-label={`Kill ${name.slice(0, 80)}`} onClick={() => void kill()}>
        Kill
      </Button>
    </li>
  );
}
