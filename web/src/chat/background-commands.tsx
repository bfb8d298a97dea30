// The background commands of an agent, each with a button to kill it.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call, describeError, type Result } from "../state/call.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { showNotice } from "../state/notices.ts";
import { useLatest } from "../state/use-latest.ts";
import { Button } from "../ui/button.tsx";
import { Elapsed } from "./elapsed.tsx";
import "./queue.css";

type Session = Result<"proc.session.list">["sessions"][number];

const isSessionChange = makeChangeFilter("sessions", "devices");
/** A killed command ends at once, unless its machine is slow. */
const KILL_WAIT_MS = 5_000;

export function BackgroundCommands({ pid }: { pid: string }) {
  const latest = useLatest("proc.session.list", { pid }, isSessionChange);
  const sessions = latest.value.value?.sessions ?? [];
  if (sessions.length === 0) return null;
  return (
    <section class="queue" aria-label="Commands that still run">
      <h3 class="queue-title">{sessions.length === 1 ? "Still running" : `${sessions.length} commands still run`}</h3>
      <ol class="queue-list">
        {sessions.map((one) => (
          <CommandEntry key={one.sessionId} session={one} onChanged={() => void latest.refetch()} />
        ))}
      </ol>
    </section>
  );
}

function CommandEntry({ session, onChanged }: { session: Session; onChanged: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const { sessionId, target, command, startedAt, state } = session;
  const kill = async () => {
    setBusy(true);
    try {
      const { status } = await call("shell.exec", { target, sessionId, input: "", signal: "KILL", wait: KILL_WAIT_MS });
      if (status === "running") showNotice("It goes on although it was killed: look at it on the machine", "bad");
      else showNotice("Killed");
    } catch (error) {
      showNotice(describeError(error), "bad");
    } finally {
      setBusy(false);
      onChanged();
    }
  };
  return (
    <li class="queue-item">
      <code class="queue-text" title={command}>
        {makeVisible(command)}
      </code>
      <span class="soft small">{target === "gsv" ? "on the gateway" : `on ${target}`}</span>
      <span class="soft small">
        <Elapsed since={startedAt} />
      </span>
      {state === "unknown" ? (
        <span class="soft small">not reachable</span>
      ) : (
        <Button busy={isBusy} onClick={() => void kill()}>
          Kill
        </Button>
      )}
    </li>
  );
}
