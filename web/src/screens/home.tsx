// The start page: a message field, what waits for the user, what agents do, machines, the next schedules, and what was used.

import { useEffect } from "preact/hooks";
import { MachinesNow } from "../home/machines-now.tsx";
import { NextRuns } from "../home/next-runs.tsx";
import { SpendingToday } from "../home/spending-today.tsx";
import { StartTask } from "../home/start-task.tsx";
import { Waiting } from "../home/waiting.tsx";
import { WorkToday } from "../home/work-today.tsx";
import { useAgentUpdates } from "../state/agents.ts";
import { approvals } from "../state/approvals.ts";
import { mayCall, username } from "../state/session.ts";
import "../home/home.css";

export default function Home() {
  useAgentUpdates();
  useEffect(() => {
    if (mayCall("proc.approval.list")) void approvals.refetch();
  }, []);
  return (
    <div class="home">
      <div class="home-start">
        <h2 class="home-hello">
          {greeting()}, {username.value}
        </h2>
        {mayCall("proc.send") && <StartTask />}
      </div>
      <div class="home-columns">
        <div class="home-column">
          <Waiting />
          {mayCall("proc.conversation.list") && <WorkToday />}
        </div>
        <div class="home-column">
          {mayCall("sys.device.list") && <MachinesNow />}
          {mayCall("sched.upcoming") && <NextRuns />}
          {mayCall("proc.spending") && <SpendingToday />}
        </div>
      </div>
    </div>
  );
}

function greeting(): string {
  const hour = new Date().getHours();
  if (hour < 5) return "Hello";
  return hour < 12 ? "Good morning" : hour < 18 ? "Good afternoon" : "Good evening";
}
